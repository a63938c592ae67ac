package stores

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/rolemanager/rolemanager/bench/figures"
)

// Description says what a kind of store is, and with which settings it is run.
type Description struct{ Version, Settings string }

// Describe describes a store, as it is started here.
func Describe(kind string, synced bool) Description {
	switch kind {
	case "nats":
		sync := "2m (the default)"
		if synced {
			sync = "always"
		}
		return Description{
			figures.Version("github.com/nats-io/nats-server/v2"),
			"file store, sync_interval " + sync + ", any number of consumers",
		}
	case "etcd":
		return Description{figures.Version("go.etcd.io/etcd/server/v3"), fmt.Sprintf("unsafe-no-fsync %t", !synced)}
	case "kube":
		return Description{"a minimal API server, of " + figures.Version("k8s.io/api"), "in memory"}
	case "consul":
		version, _, _ := strings.Cut(said(ConsulProgram()), "\n")
		return Description{version, "one server, in memory"}
	case "redis":
		return Description{
			said(exec.LookPath("redis-server")),
			"appendonly yes, appendfsync " + redisFsync(synced) + ", no snapshots",
		}
	case "postgres":
		return Description{said(postgresProgram("postgres")), strings.Join(postgresSettings(synced), ", ")}
	}
	return Description{"unknown", ""}
}

// said is what a program says about its version.
func said(program string, err error) string {
	if err != nil {
		return "not installed"
	}
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
