// Package stores starts the servers that the peers keep their state in, each as a process of its own on loopback with a
// temporary directory, and says what traffic they have had.
//
//	nats       nats-server, embedded in a child of this program     messages as the server counts them
//	etcd       etcd, embedded in a child of this program            gRPC messages, in streams too
//	kube       a minimal API server that knows Leases only          HTTP requests and answers
//	redis      redis-server, from the system                        no traffic is counted
//	postgres   PostgreSQL, from the system                          no traffic is counted
//
// Every store has two modes: Synced writes each change to the disk before it is acknowledged; else that is left to the
// system (nats: sync_interval, redis: appendfsync everysec, postgres: synchronous_commit off, etcd: unsafe-no-fsync). The
// minimal API server keeps nothing.
//
// ErrMissing is the error of a server that this machine does not have; install.sh installs those from Debian.
//
// Files: store.go (what they have in common), embedded.go (the child), nats.go, etcd.go, kube.go, external.go (programs of
// the system), redis.go, postgres.go.
package stores
