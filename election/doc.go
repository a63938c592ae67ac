// Package election elects the leaders of roles: at most one process leads a role at a time, and
// each term has an epoch that the server enforces. Most programs use package roles, a thin layer
// over this package.
//
// A [Session] is the membership of one process in one bucket. It has one lease, which one heartbeat
// renews, for any number of roles. [Session.Campaign] makes an [Election], which is the session's
// part in one role. [New] makes an election with a session of its own. An [Observer] watches a
// bucket and takes no part.
//
// A role's record names the session that holds the role, and the revision of the record is the
// epoch of the term. When a process has died, another one first ends its session, by
// compare-and-swap on its lease. Only then are the roles of that session claimed. The rules are in
// internal/protocol, which does no I/O; this package drives them.
//
// # Who is authoritative
//
// The server is authoritative, by the revision of a record. The session whose write was stored
// holds the role, and the server refuses a write that names an old epoch. A process believes that
// it leads until a margin before its lease runs out. The lease counts from when the last
// acknowledged heartbeat was sent. [Election.IsLeader] compares that with the clock at every call
// and sends no request. Only [Election.ValidateToken] proves leadership at a moment, and only a
// fencing token protects an effect after it.
//
// # Promises
//
//   - At most one process believes that it leads a role, as long as clock rates differ by less than
//     SafetyMargin/TTL and the store keeps what it acknowledged. That holds across outages, pauses,
//     forced evictions and records deleted by hand.
//   - Epochs of a role strictly increase.
//   - A role is given away only after its work has returned. Work that does not return keeps the
//     role, unless VacateUndrained is set.
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
