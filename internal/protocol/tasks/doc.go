// Package tasks is the rules of tasks as pure state machines: no I/O, no clock, no goroutine, no logging.
//
//	(event, now) ──► Scheduler.Step ──► effects      one per term: the books
//	 event       ──► Worker.Step    ──► effects      one per session: what it runs, has answered and not reported
//
// The books of a scheduler hold every open task, without its payload. Which worker has what is soft state, told by the
// workers when a term begins.
//
//	waiting ──► pushed ──► running ──► writing (outcome) ──► gone
//	   ▲           │          │
//	   │◄─rejected─┘          ├──► writing (note) ──► delayed ──► waiting      failed, snoozed, worker lost
//	   └──────────────────────┘ released
//
// Invariants.
//   - S1 Nothing is written but under a seal that the stream has shown to be ours and the last. After an unknown outcome a
//     new seal is awaited, and with it the truth about every write before it.
//   - S2 Nothing is handed out before the stream was read up to our seal, the members from before our epoch are known, and
//     each of them has answered or is dead.
//   - S3 A task with a worker is given to another only after that one has rejected this attempt for good, given it back, or
//     ended it and the note of that is stored; or when its session is dead.
//   - S4 Attempts of a task increase, over all schedulers.
//   - W1 A worker gives one answer to an assignment, however often it comes, until the scheduler has said that it will not
//     come again.
//   - W2 A result is reported until the scheduler of the present epoch has settled it.
//
// Files: scheduler.go the machine · event.go, effect.go what goes in and out · task.go the books · reading.go the stream ·
// seal.go what is written and under which condition · member.go workers and their answers · adopt.go the beginning of a term
// · dispatch.go handing out · outcome.go how attempts and tasks end · policy.go · attempt.go · worker.go the worker's machine
// · wire.go, frame.go, reply.go the frames between them.
package tasks
