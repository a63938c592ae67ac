// Package stores starts the servers that the peers keep their state in, each as a process of its
// own on loopback with a temporary directory, and says what traffic they have had.
//
//	nats       nats-server, embedded in a child of this program     messages as the server counts them
//	etcd       etcd, embedded in a child of this program            gRPC messages, in streams too
//	kube       a minimal API server that knows Leases only          HTTP requests and answers
//	redis      redis-server, from the system                        no traffic is counted
//	postgres   PostgreSQL, from the system                          no traffic is counted
//	consul     consul, from the system or ROLEMANAGER_CONSUL        no traffic is counted
//
// Every store has two modes. In both, what is acknowledged has been given to the system, so it
// outlives the server's process.
//
//	synced     it is on the disk too                  nats: sync_interval always, redis: appendfsync always, postgres:
//	                                                  fsync on
//	buffered   the system writes it when it likes     nats: sync_interval of its default, 2 min, redis: appendfsync no,
//	           (Linux: in half a minute)              postgres: fsync off, etcd: unsafe-no-fsync
//
// So a power failure takes nothing from a synced store, and from a buffered one what the system had
// not written; PostgreSQL's whole database may then be damaged, its handbook says. The minimal API
// server and consul keep nothing at all. Describe says what a store was run with.
//
// ErrMissing is the error of a server that this machine does not have; install.sh installs those
// from Debian.
package stores
