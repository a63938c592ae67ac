#!/bin/sh
# Installs the servers that some of the peers need, from Debian: redis-server and PostgreSQL. Without them those peers are
# left out, with a word. The system's own instances are neither started nor used.
set -eu
need=
command -v redis-server >/dev/null || need="$need redis-server"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null || need="$need postgresql"
[ -z "$need" ] || { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need; }
