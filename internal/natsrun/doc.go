// Package natsrun runs real NATS servers inside this process, alone or as a cluster, together with
// the network between them and their clients. Faults can be injected into that network while it
// runs.
//
// A Link is the path of one client: a dialer, in process or over TCP. A Proxy has the same faults
// behind a TCP address. A Cluster has a Proxy between each ordered pair of servers, and one in
// front of each. A Hub has a Proxy for each leaf node.
//
// Promises:
//   - A Server keeps its store directory and its address over Stop and Restart. Clients that dialed
//     through it, its Dial or a Link reconnect to the server that runs now.
//   - A Link keeps the order of bytes in each direction under every fault. Only Cut and CutOneWay
//     lose bytes. A connection that was cut never carries another byte: Heal resets it.
//   - A Link takes bytes from both ends at once and holds them itself, so a fault never stalls a
//     writer before the window is full.
//   - Clusters keep apart, even if one is given the port of another's server that is down: each has
//     a name of its own.
//   - With Options.VirtualTime all of it runs in a testing/synctest bubble. A faulty link refuses
//     dials at once, faults begin after the handshake, and no goroutine waits on a mutex while
//     virtual time would have to pass.
//   - Shutdown and Close join every goroutine that was started.
//
// Failures: if a server does not come up, Start and Restart report its last log message. A path
// whose window is full (16 MiB in one direction) stops its writer as TCP does; in virtual time it
// is reset instead.
//
// The package does not import testing. Package internal/natstest offers the same to tests, with
// clean-up.
package natsrun
