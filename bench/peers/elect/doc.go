// Package elect lets the peers contend for roles, all through one interface, each used as its own
// documentation says.
//
//	rolemanager   this library
//	ali-assar     github.com/ali-assar/NATS-Leader-Election
//	choria        github.com/choria-io/go-choria/providers/election/streams
//	etcd          go.etcd.io/etcd/client/v3/concurrency: one session a process, one election a role
//	client-go     k8s.io/client-go/tools/leaderelection
//
// Settings that follow from the TTL keep the ratios of each peer's own documentation: a heartbeat
// every fifth of the TTL (rolemanager's default, and what ali-assar's allows), 15 : 10 : 2 for
// client-go. The work of a leader notes when it begins, when it is told to end, and when it has
// ended, a drain later.
package elect
