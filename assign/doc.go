// Package assign hands tasks out to the members of a bucket: the leader of one role, the scheduler, gives them to workers,
// and each task gets exactly one outcome, stored in a stream.
//
//	client                    stream TASKS_<ns>                 scheduler (leader of the role)          worker
//	  │ q.<task>  submission ────►│──────── consumer ────────────►│                                       │
//	  │◄──── stored ──────────────│                               │── signed frame, work.assign.<w> ─────►│ handler runs
//	  │                           │                               │◄───────────── accepted ───────────────│
//	  │                           │◄─ c.<task> checkpoint ────────│◄──── report.<w>: how far it is ───────│
//	  │                           │                               │◄──── report.<w>: how it ended ────────│
//	  │                           │◄─ q.<task> outcome, if the ───│                                       │
//	  │                           │   seal is still ours ─stored─►│──── settled, after the commit ───────►│ forgotten
//	  │◄──── done.<client>: outcomes, after the commit ───────────│                                       │
//
// A program makes a [Kind], gives its handler to an [Assigner] with [Handle], takes part in the role that [Assigner.Role]
// returns, and calls [Submit] and Wait from anywhere. A [Client] submits, looks and steers without taking part: [Get], [List],
// [GetOverview], Pending.Cancel and Pending.Events, [Requeue], [PauseKind], [DrainWorker], [Recur].
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
//   - Submitting, cancelling, requeueing, pausing, draining and defining recurrences need no scheduler: they are records, and
//     take effect when a scheduler has read them. They outlive every scheduler.
//   - A repeated submission with the same id returns the same task for as long as its outcome is kept. Of the open tasks of a
//     kind one at most has a unique key. A tick of a recurrence is submitted once, however often the leader changes.
//   - A checkpoint that Task.Progress has returned for, or a later one, is what the next attempt gets.
//
// # Failures
//
//	handler returns an error, or panics   again after a backoff, up to the kind's MaxAttempts, then dead
//	Permanent, RetryAfter, Snooze         dead at once; after that time; after that time, uncounted
//	attempt's timeout                     its context ends with ErrTimeout; counted as a failure unless the handler succeeds late
//	cancel, deadline                      terminal at once; the handler's context ends with ErrStopped, which is ErrTaskCancelled
//	                                      or ErrTaskExpired too
//	worker dies or is cut off             run again when its session is dead; dead with the CrashBudget-th such loss
//	session closed                        running handlers may finish; then ErrDraining, and given back uncounted; while one
//	                                      runs on all the same the session is left to run out, as if its process had crashed
//	scheduler dies                        running handlers go on; their results wait for the next scheduler
//	nobody leads                          what was asked for is stored and waits; ErrNoScheduler for who asks about open tasks,
//	                                      ErrCancelPending for who waits for a cancel; missed ticks as CatchUp says
//	acknowledgement of a client's write   written again under the same condition, or found to be there: each is
//	is lost                               stored once, and a copy that comes late undoes nothing that was decided since
//	client gives up waiting (its ctx)     what it wrote may be stored or not; the same call again is safe
//	stream without a leader               submissions and outcomes wait; nothing is lost
//	stream full                           ErrStreamFull for who submits; tasks end when there is room again, by themselves;
//	                                      an event.Fault, and Overview.Trouble, say so
//	record that is never stored           an event.Fault names it; a task whose outcome it is ends as dead, cause unstorable
//	permission denied                     Lead ends with election.ErrPermission, which names the subject; a worker's is a Fault,
//	                                      and so is that nothing may be announced: then who waits reads, up to 45 s late
//	worker may not listen any more        its session ends, as if it had crashed; it offers nothing before it may again
//	announcement lost                     who waits reads now and then, and when the next scheduler has begun
//	submitter is cut off for longer than  ErrTaskNotFound for who waits
//	the outcome is kept
//	large output expired                  Wait returns ErrOutputGone; the outcome stands
//	object store is missing               an event.Fault says so; large outputs wait five minutes for it, then their tasks are dead
//
// One thing no condition can tell: a submission whose acknowledgement stays lost for longer than the outcome is kept (an hour,
// see [Retention]) is stored once more, and runs again.
//
// # Who writes what
//
// Records of the stream. A record is removed by an empty one in its place, which the server drops after a while. Under its
// seal means: on the condition that the seal is at the revision that this scheduler has written, so a later one shuts it out.
//
//	<ns>.q.<task>      submission: clients, if there is none, or in the place of a dead outcome (requeue); the scheduler,
//	                   for a tick, under its seal. Outcome: the scheduler, under its seal
//	<ns>.u.<digest>    which task has a unique key: clients, as one with its submission, over a revision at which no open task
//	                   had it; emptied by the scheduler, over the revision that it has read
//	<ns>.t.<task>      note, what a later attempt must know: the scheduler, under its seal
//	<ns>.c.<task>      checkpoint of an attempt: the scheduler, under its seal
//	<ns>.x.<task>      request to cancel: clients, on the condition that the task's submission is the one they have read;
//	                   emptied by the scheduler when the task has ended, over the revision that it has read
//	<ns>.p.<kind>      the kind is paused: clients, over the revision that they have read
//	<ns>.d.<instance>  the worker is drained: clients, likewise
//	<ns>.r.<name>      recurrence: clients, likewise
//	<ns>.k.<name>      its last tick: the scheduler, under its seal, as one with the submission of that tick
//	<ns>.seal          the scheduler, by compare-and-swap, only over an epoch that is not above its own
//
// Messages.
//
//	<ns>.done.<client>           the scheduler: a bulletin of the outcomes that are stored at <ns>.q.<task>, or that there is one
//	                             to read: of tasks whose ids that client made (<client>.<n>). Whoever waits for one of them in
//	                             another client receives all of these
//	<ns>.done.<task>             likewise, of one task: if its id was given, or its announcement is larger than 2 KiB
//	<ns>.event.<task>            the scheduler: how a task that is watched goes on
//	<ns>.work.{assign,cancel,sync}.<instance>   the scheduler, signed with its session's key
//	<ns>.report.<instance>       that worker
//	<ns>.ctl                     anybody who may look: status, list, overview, watch
//
// Outputs above 64 KiB are objects in the object store TASKS_<ns>, one for each attempt, written by its worker before it
// reports; the outcome names the object.
//
// All who may publish to <ns>.q.> trust each other; separate trust domains take separate namespaces. Who may submit with
// unique keys writes <ns>.u.> too, who may cancel <ns>.x.>, and an operator <ns>.{p,d,r}.> besides. Who may publish to
// <ns>.done.> is believed by clients that wait for what they have submitted: that is for schedulers alone.
//
// # Rooms
//
// This package is the typed face. The parts behind it are packages of their own, which never call back:
//
//	internal/client     submits, waits, looks and steers, without types of inputs and outputs
//	internal/scheduler  one term of the role's leader
//	internal/worker     one lease of a process that runs handlers
//	internal/stream     the stream and the object store: how they are made and checked
//	internal/control    questions to the scheduler, and its answers
//	internal/record     formats and subjects
//	internal/taskerr    the errors that all of them share
//
// The rules of the scheduler and of the worker are in internal/protocol/tasks, without I/O.
package assign
