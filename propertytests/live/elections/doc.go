// Package elections is where processes contend for roles while everything goes wrong, and where
// every promise of package election is checked against what they did.
//
// Processes reach one server, each over a Link. An operator evicts, deletes and garbles. The
// RecordLog has every record that was stored. The Ledger has which process believed what, from when
// to when: it is told by the work, the callbacks, and samples of IsLeader.
//
// A Process is what a program has of its own: a connection along a path that can be broken, a clock
// of its own pace, a session, an election for each role, and work that writes down when it was
// begun, cancelled and drained. All of them live on the one virtual clock of a testing/synctest
// bubble, so that the stretches they write down can be compared.
//
// Promises:
//   - A Ledger finds every overlap of two stretches of one role, every epoch that does not
//     increase, and every callback that comes twice, too early or not at all. In real time a
//     stretch lasts until its session's deadline if nothing has ended it before; what can be missed
//     then is said at Ledger.
//   - A RecordLog finds every role that was given away before its work had returned, and every key
//     that is written too often.
//   - A Storm is drawn from its seed alone. The actions of the processes are not: goroutines run as
//     they like.
//   - A Storm begins when all its processes are in line for all its roles, and does not end before
//     every kind of fault that it can have has struck and every role has had a second term.
//   - After each stretch of weather, when all is quiet, a leader crashes, and what it led is led
//     again within TTL·(1+ρ).
//
// Failures: a violation is told with the seed, the faults that led to it and the stretches that
// overlap. A run in which nobody was elected, or no fault struck, proves nothing; the Tally tells
// what came to pass, for the test to insist on.
package elections
