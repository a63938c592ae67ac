// Package election lets a process hold roles: at most one process leads a role at a time, and each
// term has an epoch that the server enforces.
//
//	                      ┌────────────────────────────── Session ───────────────────────────────┐
//	Election (a role) ───▶│                                                                       │
//	Election (a role) ───▶│  loop ──events──▶ protocol.Machine ──effects──▶ loop                  │
//	Election (a role) ───▶│   ▲ ▲ ▲                                          │ │ │                │
//	                      │   │ │ └── outcomes ◀── writer ◀───────── writes ─┘ │ └─▶ terms (work) │
//	                      │   │ └──── watcher ◀─────────────────── rebuild ────┘     events       │
//	                      │   └────── commands, control requests, connection                      │
//	                      └───────────────────────────────────────────────────────────────────────┘
//
// A [Session] is one lease in one bucket. One heartbeat keeps it alive, for any number of roles. A
// role's record names the session that holds the role, and the revision of the record is the epoch
// of the term. To take a role from a dead session, the session itself is killed first, by
// compare-and-swap. The rules are in internal/protocol, which does no I/O; this package drives
// them.
//
// # Who is authoritative
//
// The server is authoritative, by the revision of a record. The session whose write was stored
// holds the role, and the server refuses a write that names an old epoch. A process believes that
// it leads until its lease runs out, less a margin. The lease counts from when the last
// acknowledged heartbeat was sent. [Election.IsLeader] compares that with the clock at every call
// and asks nobody. Only [Election.ValidateToken] proves leadership at a moment, and only a fencing
// token protects an effect after it.
//
// # Promises
//
//   - At most one process believes that it leads a role, as long as clock rates differ by less than
//     SafetyMargin/TTL and the store keeps what it acknowledged. That holds across outages, pauses,
//     forced evictions and records deleted by hand.
//   - Epochs of a role strictly increase.
//   - A role is given away only after its work has returned; work that does not return keeps it
//     (VacateUndrained aside).
//   - A term begins in this process only after the last one of that role has drained. OnDemote runs
//     once for each OnPromote.
//   - One heartbeat per session and interval, no goroutine per followed role.
//
// # Failures
//
// A transient fault (a lost connection, a stream without a leader, an unknown outcome) is retried
// with back-off, and reported as event.Fault. A permanent fault (the bucket is gone, a permission
// is missing, another process uses our instance id) ends the session: Done is closed, and Err
// returns the fault. A lost lease ends every term; the session then opens a new lease
// automatically. A panic in a callback ends the term, never the process.
package election
