// Package ahead keeps inputs of waiting tasks in memory, and is the rule by which all others are
// read from the stream: one by one, or ahead of the queue in portions of the stream. It has no I/O
// and no clock: its owner tells it what frames wait for and what was read, and carries out what it
// says.
//
// Tasks are handed out in the order of their submissions, mostly. A portion costs the server little
// for each record. To begin a reading costs it a look at every task there is.
//
// Invariants.
//   - R1 Whatever is wanted comes: with a portion that its frame has not seen, or alone.
//   - R2 A reading ends only if it has not been used for a while, or if what is wanted is far off,
//     or if nearly nothing of a portion was of use. Only a frame that has seen a portion says
//     whether it was. The next one begins a while later, the longer the more it costs.
//   - R3 A portion is read ahead of what is wanted if half of the inputs in the last one are used,
//     and no other then. So two portions are at hand, and one is on its way. Tasks that have ended
//     do not count: no portion follows one without open tasks until a frame wants an input behind.
//   - R4 The inputs in memory have no more bytes than there is room for. A task gets the input of
//     its last submission, or none.
package ahead
