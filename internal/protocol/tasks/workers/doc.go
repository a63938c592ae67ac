// Package workers is the rules of a worker as a pure state machine: no I/O, no clock, no goroutine.
//
// There is one Worker for each session. It holds the attempts that run, the answers that it has
// given, and the results that no scheduler has settled so far.
//
// Invariants.
//   - W1 A worker gives one answer to an assignment, however often it comes, until the scheduler
//     has said that it will not come again.
//   - W2 A result is reported until the scheduler of the present epoch has settled it.
package workers
