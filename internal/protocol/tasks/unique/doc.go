// Package unique is the rules by which a client submits a task with a unique key, as a pure state
// machine: no I/O, no clock, no goroutine.
//
// Two records tell who has a key. The record of the key names a task, and At, a revision. The
// place of the task holds nothing, a reservation, the submission, or the outcome. A reservation is
// an empty record that only gives the place a revision of its own.
//
// A submission takes three writes, each on the condition that the record which it replaces is the
// one that the client knows:
//
//  1. the place of the task is reserved, at revision v
//  2. the record of the key names the task, and v as At
//  3. the submission replaces the reservation, if the place is still at v
//
// A client that finds a key with the name of another task looks at the place of that task. If the
// task is open, the key is taken. If the place holds anything else behind At, the submission of
// that task has been stored and has ended, or can never be stored. If the place is empty or
// reserved, the submission may still be under way: then the client reserves the place once more,
// which shuts that submission out for good. Only then it takes the key.
//
// A dead task is submitted again by the second and the third write: its outcome, at revision v, has
// the part of the reservation. A client that finds the outcome at At writes it again, as it is.
// That gives it another revision, and shuts the submission out.
//
// Invariants.
//   - U1 Of all open tasks of a kind, at most one has a key. Each client that replaces the record
//     of a key knows that the task named there has ended, or can never be stored.
//   - U2 A submission is stored once, and replaces nothing but its own reservation, or the outcome
//     that its client has read, since no revision comes twice. A copy of it that comes late
//     overwrites neither the outcome nor another task of its id.
//   - U3 Nothing is believed for the absence of a record, since a server that lags may have
//     answered. A write whose condition is that absence asks the stream itself.
//   - U4 A reservation counts only for a key that is taken after it. A client that has been shut
//     out begins again with the first write.
package unique
