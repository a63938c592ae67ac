// Package roles lets a process take part in many roles at once. It has one connection, one session
// and one heartbeat, and for each role the work that runs while this process leads the role.
//
//	cfg, roles ──► New ──► Run ──► connect ──► open ──► take part ──► drain ──► hand over ──► close
//	                                                    │      ▲
//	                                              won ──┤      ├── the term has ended and drained
//	                                                    ▼      │
//	                                                 Lead(ctx, term)      once per role that is won, in a goroutine
//
//	            ┌──────────────────── Manager ────────────────────┐
//	NATS ◄────► │ election.Session ◄── election.Election per role │ ──► Lead, OnPromote, OnDemote, OnLeaderChange
//	            │        └── events ──► log, sinks, Events(ctx)   │
//	            └── Status ──► Handler: /livez /readyz /leaderz /status
//
// A [Manager] is a thin layer over package election. It adds the life cycle, the connection, the
// log and the health endpoints. Package election alone holds the rules, and decides which process
// leads.
//
// # Promises
//
//   - A process sends one heartbeat per interval, and has no goroutine per followed role, for any
//     number of roles.
//   - A Lead that ends, fails or panics ends its own term and nothing else; only [Fatal] ends Run.
//   - When the context of Run ends, the attachments of the session end first (running tasks have
//     assign.Config.DrainTimeout). Then the work of all roles drains concurrently, and each role is
//     given away as soon as its own work has returned. Run returns within DrainTimeout and a few
//     operations after the attachments.
//   - An outage of NATS never ends Run. Run waits until NATS is back, and continues.
//   - /readyz says whether this process can take part, not whether it leads or can reach NATS at
//     this moment.
//   - No log line, status or answer holds a fencing token.
//
// # Failures
//
// [New] refuses a wrong configuration, with all its faults and how to fix each. A permanent fault
// (bucket missing, permission denied, instance id in use) ends Run with the typed error of package
// election. Work that does not return is reported as stuck, makes the process not ready, and keeps
// its role. If it has still not returned at the end of Run, *election.UndrainedError names the
// role, which stays held until the lease has run out.
package roles
