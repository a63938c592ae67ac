// Package tasks is the rules of a scheduler of tasks as a pure state machine: no I/O, no clock, no
// goroutine, no logging.
//
// There is one Scheduler for each term. Package workers has the rules of the other side.
//
// The state of a scheduler holds every open task, without its payload, in at most 300 bytes as long
// as it waits, whatever keys and times it has; where its id, keys and tag are longer than 80 bytes,
// in as much more (TestMemoryOfOpenTasks). Which worker has what is soft state, told by the workers
// when a term begins.
//
// A task goes through these states. It is delayed until its time has come, then waiting. If its
// limit key has as many running tasks as it may, it is parked until it goes. It is pushed when it
// was sent to a worker, and waits again if that rejects it. Then it is running. After an attempt
// its note is stored (noting), and it is delayed again; or its outcome is stored (ending), and it
// is gone. A task whose worker is lost becomes delayed too. Cancelled and expired tasks end from
// any state.
//
// Invariants.
//   - S1 Nothing is written but under a seal that the stream has shown to be ours and the last.
//     After an unknown outcome a new seal is awaited, and with it the truth about every write
//     before it.
//   - S2 Nothing is handed out before the stream was read up to our seal, and to a later one that
//     shows that nothing was missed (see sealed), the members from before our epoch are known, and
//     each of them has answered, has said in its member record what it holds, or is dead.
//   - S3 A task with a worker is given to another only after that one has rejected this attempt for
//     good, given it back, or ended it and the note of that is stored; or when its session is dead.
//   - S4 Attempts of a task increase, over all schedulers, also when it is submitted again under
//     its id. An attempt that is adopted belongs to the present submission.
//   - S5 A checkpoint that was acknowledged, or a later one, is given to every later attempt.
//   - S6 The records that others steer by (cancel, pause, drain, unique keys, recurrences) are in
//     the stream and are only read: they hold for every scheduler from where it reads them. A
//     record that says nothing any more is removed under the condition that it is still that one.
//   - S7 A tick is submitted together with the record that says so, and only if nothing stands in
//     its place.
//   - S8 One scheduler never gives out more than a kind's concurrency and rate, or a key's limit,
//     allow. Adopted attempts count, and may be more. A task that was cancelled or has expired
//     counts no more, though its handler may need a moment to return.
//   - S9 The times of tasks and ticks are on the stream's clock, which is told by our own seal: no
//     two machines' clocks are compared, and nothing happens before its time. A running task's
//     deadline is counted down by its worker too.
//   - S10 A task that cannot be read, since a later version wrote it, is left as it is with all
//     that belongs to it.
//   - S11 A task that cannot go (nobody takes it, its kind is paused) holds back no task that can:
//     neither one of its kind with other labels, nor one of its limit key. Room is kept for a task
//     that needs several slots.
//   - S12 An outcome that may have stood in the stream and be gone already is written only over its
//     own submission.
//   - S13 A task ends dead for lost workers only if nothing else ran in the last one: none ends for
//     what its neighbour has done, see suspicion.
//   - S14 A task whose input could not be decoded ends for that only while nobody of another build
//     takes anything, or after so many attempts as it has.
//   - S15 A task that waits for others, or completes a group, is handed out only for ends that a
//     later scheduler finds too: outcomes that stay, and the record of the group.
//   - S16 While the fair keys of a kind that have tasks which can go have shares of n together, the
//     first task of each is handed out within 2n tasks of the kind. Of those that share a limit
//     key, the first task of each is handed out within 2n tasks of that. A key has one share where
//     nothing else is said. Among kinds the oldest task decides, whatever its key.
//   - S17 Workers of one host that are lost within the time in which a loss is known count as one
//     loss: once the second is known, nothing that ran there is suspected or blamed for it, except
//     for what has lost as many workers as it may be blamed for.
//
// Writes without the seal. The seal itself, an outcome again that is to stay or to leave
// (KeepOutcome, ReleaseOutcome), the removal of a request to cancel, the freeing of a unique key
// and the record of a kind's limits go out under another condition: the record stands there that
// was read. A deposed scheduler stores them too. docs/explanation/protocol.md says of each why that
// does no harm, and package gaps how a reading notices it that they overtake.
//
// Costs. A step costs O(log n) of the tasks that wait; handing out costs O(workers) once a round,
// and as much for the classes that somebody with room takes, and O(log workers) for each task, but
// O(workers) for one with a sticky key, a weight, or a configured Placement. Classes that nobody
// takes cost nothing. An event of very many tasks at once (they expire, come due, find new workers)
// is spread over several steps. A page of a listing costs its size.
package tasks
