// Package tasks is the world in which the rules of tasks are searched: the real Scheduler, the real
// Worker and the real judgement of frames (Addressee) of internal/protocol/tasks, with two members,
// up to three terms one after the other, and a few tasks.
//
// A World has these parts:
//
//   - leader, one for each term: a scheduler, what it has read of the stream, what it has asked for
//   - member: a session, a view of the bucket, a worker, its handlers
//   - ledger: the bucket's log, the stream, what was seen of every task
//   - net: frames, answers and writes on their way
//
// Sessions and terms are granted by this world and not by the rules of elections, and more freely:
// a leader may be deposed while it lives, and continues until it notices; a session is known to be
// dead at any moment after its handlers have stopped.
//
// A message that no fault delays is dealt with before anything else happens. A late one arrives at
// any later moment, or never. A frame that is repeated arrives twice; a write does not, since a
// connection does not repeat what is published, but it may arrive after it was given up. A handler
// runs for as long as it likes. Time passes when nothing else is to be done, one unit for all
// schedulers; then writes without an answer are unknown, and results that are not settled are
// reported again.
//
// Checked at every move: no two live handlers of one task, attempts rise, one outcome for each
// task, and one that says that it has succeeded is of the last attempt that was started, which has;
// the state is not broken; and where nothing is on its way and nobody waits for anything, every
// task has its outcome (T1, T2). Where all states were seen: from each of them, moves that are not
// faults lead to where every task has its outcome, but where the last of the configured terms has
// ended. So if what can always happen again happens one day, every task ends.
//
// A configuration may have readings of the stream come to one record at a time. Then outcomes may
// be written again without a seal, ahead of a reading, and a scheduler knows what its reading has
// left out (package gaps). In the other configurations a reading comes to all that stands at once.
//
// Left out: payloads and signatures (a frame names its sender truly), checkpoints, limits,
// recurrences, deadlines, cancelling, draining on request; terms beyond the configured number.
package tasks
