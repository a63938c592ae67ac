// Package discovery finds out where the NATS servers are, and follows changes of that list: from a
// file, DNS, Consul, etcd, or the EndpointSlices of Kubernetes.
//
//	servers, err := discovery.Parse("consul://127.0.0.1:8500/nats")
//	if err != nil {
//		return err
//	}
//	m, err := roles.New(roles.Config{Servers: servers, Bucket: "roles"}, all...)
//
// A manager with Servers connects to a server of the list, and prefers those of its own zone. When
// the list changes, its connection stays where it is, as long as it works.
//
// [ConsulLeader] is the other direction: it announces who leads a role.
//
// [Servers] is one method, so a program can bring its own. [Follow] calls it again and again.
//
// # Promises
//
//   - A look-up that fails, is empty or hangs changes nothing: the last list stays. [Follow]
//     reports the trouble once, and tries again with exponential back-off and jitter.
//   - Each answer is bounded in size and time, and each list in its length.
//   - No call starts a goroutine that outlives it. No connection to a service stays open between
//     two calls.
//   - No error holds a password or a token.
//
// # What is not promised
//
// A list says where servers should be, and not that they answer or belong to one cluster. All
// servers of a list must lead to the same bucket.
package discovery
