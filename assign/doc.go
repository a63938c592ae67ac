// Package assign hands tasks out to the members of a bucket: the leader of one role, the scheduler, gives them to workers,
// and each task gets exactly one outcome, stored in a stream.
//
//	client                    stream TASKS_<ns>                 scheduler (leader of the role)          worker
//	  │ q.<task>  submission ────►│──────── consumer ────────────►│                                       │
//	  │◄──── stored ──────────────│                               │── signed frame, work.assign.<w> ─────►│ handler runs
//	  │                           │                               │◄───────────── accepted ───────────────│
//	  │                           │                               │◄──── report.<w>: how it ended ────────│
//	  │                           │◄─ q.<task> outcome, if the ───│                                       │
//	  │◄─ done.<task> republished─│   seal is still ours          │──── settled, after the commit ───────►│ forgotten
//
// A program makes a [Kind], gives its handler to an [Assigner] with [Handle], lets the role's Lead be [Assigner.Lead], and
// calls [Submit] and Wait from anywhere.
//
// # Promises
//
//   - A task that Submit has returned for runs at least once, and exactly one outcome of it is ever accepted. Nothing that
//     was acknowledged is lost, whoever crashes at whatever moment. That is not exactly-once execution: a worker that was cut
//     off may still be at it when the next attempt begins elsewhere, unless its handler returns when its context ends. Send
//     [Task.Fence] along with effects on the outside.
//   - A scheduler that was deposed hands out nothing (workers refuse its epoch) and stores nothing (the server refuses its
//     writes, since a later scheduler has written the seal).
//   - The outcome of an attempt is accepted only while that attempt, of that worker's session, is the one on the books. A
//     late one is counted as stale.
//   - A new scheduler adopts what runs: it asks every worker of before its term what it holds, and hands out nothing until
//     each has answered or its session is dead.
//   - Of two live workers never both hold a task: an assignment without an answer is given to nobody else.
//   - Submitting needs no scheduler, and a repeated submission with the same id returns the same task for as long as its
//     outcome is kept.
//
// # Failures
//
//	handler returns an error, or panics   again after a backoff, up to the kind's MaxAttempts, then dead
//	Permanent, RetryAfter, Snooze         dead at once; after that time; after that time, uncounted
//	attempt's timeout                     its context ends with ErrTimeout; counted as a failure
//	cancel, deadline                      terminal at once; the handler's context ends with ErrStopped
//	worker dies or is cut off             run again when its session is dead, up to CrashBudget times, then dead
//	session closed                        running handlers may finish; then ErrDraining, and given back uncounted
//	scheduler dies                        running handlers go on; their results wait for the next scheduler
//	stream without a leader               submissions and outcomes wait; nothing is lost
//
// # Who writes what
//
//	<ns>.q.<task>                submission: clients, if there is none; outcome: the scheduler, under its seal
//	<ns>.t.<task>                note, what a later attempt must know: the scheduler, under its seal
//	<ns>.seal                    the scheduler, by compare-and-swap, only over an epoch that is not above its own
//	<ns>.done.<task>             the server: what was stored at <ns>.q.<task>
//	<ns>.work.{assign,cancel,sync}.<instance>   the scheduler, signed with its session's key
//	<ns>.report.<instance>       that worker
//	<ns>.ctl                     anybody who may cancel
//
// All who may publish to <ns>.q.> trust each other; separate trust domains take separate namespaces.
//
// # Files
//
// For everybody: kind.go · submit.go, pending.go, client.go, waiters.go, control.go the client · task.go, handler.go,
// errors.go · assigner.go, config.go. The worker: work.go its loop, gate.go what it checks, execute.go its handlers,
// outbox.go its reports, drain.go its end. The scheduler: lead.go its loop, reader.go the stream, commits.go its writes,
// push.go and payloads.go its frames, hear.go what it is told, carryout.go. Both: courier.go. The stream: stream.go,
// subject.go, record.go. The rules of both are in internal/protocol/tasks, without I/O.
package assign
