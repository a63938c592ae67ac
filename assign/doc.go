// Package assign distributes tasks. The leader of one role, the scheduler, hands the tasks of a
// namespace to workers. Each task gets exactly one outcome, which is stored in a stream.
//
//	resize := assign.NewKind[string, int]("resize.v1")       // a type of task
//	a, err := assign.New(session, assign.Config{Namespace: "images", Role: "images"})
//	err = assign.Handle(a, resize, handler)                  // this process can run it
//	name, lead := a.Role()                                   // the leader of this role is the scheduler
//	task, err := assign.Submit(ctx, a, resize, "cat.png")    // stored
//	width, err := task.Wait(ctx)                             // the outcome
//
// A [Client] does everything but run tasks and hand them out, and needs no session: [Submit],
// [Get], [List], [GetOverview], Pending.Cancel and Pending.Events, [Requeue], [PauseKind],
// [DrainWorker], [Recur].
//
// A task takes this way:
//
//  1. The client stores the submission in the stream TASKS_<namespace>. Submit then returns.
//  2. The scheduler reads the submission, chooses a worker, and sends it the task, with a proof
//     that it comes from the leader.
//  3. The worker accepts the task, runs the handler, and reports progress and the result.
//  4. The scheduler stores each checkpoint, and at the end the outcome. The server refuses that if
//     a later scheduler has begun.
//  5. The scheduler announces the stored outcome to the client, and tells the worker that it may
//     forget the result.
//
// # Promises
//
//   - A task that Submit has returned for runs at least once, and exactly one outcome of it is ever
//     accepted. A crash of any process at any moment loses nothing that was acknowledged.
//     Execution is not exactly-once: a worker that was cut off may still run the task when the next
//     attempt begins elsewhere, unless its handler returns when its context ends. Send [Task.Fence]
//     along with effects on the outside.
//   - A scheduler that was deposed hands out nothing (workers refuse its epoch) and stores nothing
//     (the server refuses its writes, because a later scheduler has written the seal).
//   - The outcome of an attempt is accepted only while the scheduler's state names that attempt and
//     that worker's session. A late outcome is counted as stale.
//   - A new scheduler adopts the tasks that run. It asks each worker from before its term which
//     tasks that worker holds, and hands out nothing until each has answered or its session is
//     dead.
//   - At most one live worker holds a task: an assignment without an answer is given to nobody
//     else.
//   - Submitting, cancelling, requeueing, pausing, draining and defining recurrences need no
//     scheduler. They are records, take effect when a scheduler has read them, and outlive every
//     scheduler.
//   - A repeated submission with the same id returns the same task for as long as its outcome is
//     kept. At most one open task of a kind has a given unique key. A tick of a recurrence is
//     submitted once, however often the leader changes.
//   - The next attempt gets the last checkpoint that Task.Progress has returned for, or a later
//     one.
//
// # Failures
//
//   - The handler returns an error, or panics: the task runs again after a backoff, up to the
//     kind's MaxAttempts, and is then dead.
//   - The handler returns Permanent: the task is dead at once. RetryAfter: it runs again after that
//     time. Snooze: likewise, uncounted.
//   - The attempt's timeout passes: its context ends with ErrTimeout. The attempt counts as a
//     failure unless the handler succeeds late.
//   - The task is cancelled, or its deadline passes: it ends at once. The handler's context ends
//     with ErrStopped, which is ErrTaskCancelled or ErrTaskExpired too.
//   - The worker dies or is cut off: its tasks run again when the worker's session is dead, as
//     suspects, apart from each other. With the CrashBudget-th loss that is blamed on a task, the
//     task is dead.
//   - The session is closed: running handlers may finish. After the DrainTimeout their contexts end
//     with ErrDraining, and their tasks are given back uncounted. If a handler still runs on, the
//     session is left to run out, as if its process had crashed.
//   - The scheduler dies: running handlers continue, and their results wait for the next scheduler.
//   - Nobody leads: requests are stored and wait. A call that asks about open tasks gets
//     ErrNoScheduler, and a call that waits for a cancel gets ErrCancelPending. Missed ticks are
//     treated as CatchUp says.
//   - The acknowledgement of a client's write is lost: the client writes again under the same
//     condition, or finds the record. Each record is stored once, and a copy that comes late undoes
//     no later decision.
//   - A client stops waiting (its ctx ends): its write may be stored or not. The same call again is
//     safe.
//   - The stream has no leader: submissions and outcomes wait, and nothing is lost.
//   - The stream is full: Submit returns ErrStreamFull. Tasks end by themselves when there is room
//     again. An event.Fault and Overview.Trouble say so.
//   - A record is never accepted by the server: an event.Fault names it. If the record is the
//     outcome of a task, the task ends as dead, with the cause unstorable.
//   - A permission is denied: Lead ends with election.ErrPermission, which names the subject. For a
//     worker it is an event.Fault. A scheduler that may not announce outcomes reports an
//     event.Fault too: calls that wait then read the outcomes, up to 45 s late.
//   - A worker may not listen any more: its session ends, as if it had crashed. It offers nothing
//     until it may listen again.
//   - An announcement is lost: a call that waits reads now and then, and when the next scheduler
//     has begun.
//   - A submitter is cut off for longer than the outcome is kept: a call that waits gets
//     ErrTaskNotFound.
//   - A large output has expired: Wait returns ErrOutputGone. The outcome does not change.
//   - The object store is missing: an event.Fault says so. Large outputs wait for it for five
//     minutes, and then their tasks are dead.
//
// One case is outside what any condition can tell: a submission whose acknowledgement stays lost
// for longer than the outcome is kept (an hour, see [Retention]) is stored once more, and runs
// again.
//
// # Who writes what
//
// The stream has these records, under these keys: subjects below $KV.TASKS_<ns>. They are published
// through the prefix of the session's JetStream domain, so they reach the stream of that domain and
// no other. An empty record in its place removes a record, and the server drops
// the empty one after a while. "Under its seal" means: on the condition that the seal is at the
// revision that this scheduler has written. A later scheduler writes the seal, and so shuts the
// earlier one out.
//
//   - q.<task> is the submission. Clients write it if there is none, in the place of a reservation,
//     or in the place of a dead outcome (requeue). The scheduler writes it for a tick, under its
//     seal. The outcome takes its place: the scheduler writes it, under its seal. The scheduler
//     writes an outcome again that an open task waits for, or waits for no longer, over the
//     revision that it has read: the first has no time to live, the second has its retention. A
//     reservation is a delete marker that lasts seconds. Clients write it where there is no record,
//     or another marker, before they submit a task with a unique key.
//   - b.<task> is a bundle: submissions of one client that were stored together, named after the
//     first of them. A task of a bundle, a member, has no submission at q.<task>. Its outcome is
//     stored there. Clients write a bundle if there is none at b.<client>.<block>.*. The scheduler
//     empties it, under its seal, in one step with the outcome of the last member. A claim is a
//     delete marker with a value that lasts an hour, at the last id of the block, which names no
//     bundle. Clients write it under the same condition, before they submit a task again under an
//     id that a client has made. It shuts a bundle out that comes late.
//   - e.<task> says which members of that bundle have ended. The scheduler writes it, under its
//     seal, in one step with their outcomes, and empties it together with the bundle. A record at
//     q.<task> is always the truth about a task. If there is none, the task is open if its bundle
//     stands and this record does not say that it has ended.
//   - u.<digest> says which task has a unique key, and over which revision of q.<task> the task is
//     submitted. Clients write it after the reservation and before the submission, over a revision
//     at which no open task had the key. A requeue replaces the outcome in the same way, and needs
//     no reservation. A client that wants a key for which a requeue may be under way writes the
//     outcome of that task again before, over the revision that it has read. The scheduler empties
//     the key, over the revision that it has read.
//   - t.<task> is a note with the facts that a later attempt must know. The scheduler writes
//     it, under its seal.
//   - c.<task> is the checkpoint of an attempt. The scheduler writes it, under its seal.
//   - x.<task> is a request to cancel. Clients write it, on the condition that the task's
//     submission is the one they have read, or, for a member of a bundle, that there is nothing at
//     q.<task>. The scheduler empties it when the task has ended, over the revision that it has
//     read.
//   - p.<kind> says that the kind is paused. Clients write it, over the revision that they
//     have read.
//   - l.<kind> is the limits of the kind: what a program has declared, and what an operator has put
//     in its place. Clients write it likewise, and so does the scheduler, for workers that declare.
//   - d.<instance> says that the worker is drained. Clients write it likewise.
//   - r.<name> is a recurrence. Clients write it likewise.
//   - k.<name> is the last tick of a recurrence. The scheduler writes it, under its seal, in
//     one step with the submission of that tick, or alone when the tick is left out.
//   - g.<task> says how the members of the group have ended that the task completes. The scheduler
//     writes it, under its seal, now and then and before the completion runs.
//   - seal is the seal. The scheduler writes it by compare-and-swap, only over an epoch that
//     is not above its own.
//
// These are the messages, on subjects below $TASKS.<ns>.<id>. They cross leaf nodes, so they carry
// a random id: those between scheduler and workers that of the bucket, all others that of the
// stream.
//
//   - done.<client>, from the scheduler: a bulletin of the outcomes that are stored at
//     q.<task>, or that there is an outcome to read, of the tasks whose ids that client made
//     (<client>.<block>.<index>). Another client that waits for one of these tasks receives all
//     of these messages.
//   - done.<task>, from the scheduler: likewise for one task, if its id was given, or its
//     announcement is larger than 2 KiB.
//   - event.<task>, from the scheduler: the progress of a task that is watched.
//   - work.{assign,cancel,sync}.<instance>, from the scheduler, signed with its session's key, or
//     proven by a key that it shares with the worker.
//   - report.<instance>, from that worker.
//   - ctl, from anybody who may look: status, list, overview, watch.
//
// Outputs above 64 KiB are objects in the object store, the stream OBJ_TASKS_<ns>, one for each
// attempt, in chunks. The worker writes the object before it reports, and the outcome names the
// object.
//
// All who may publish to $KV.TASKS_<ns>.q.> trust each other; separate trust domains take separate
// namespaces. A client that submits many tasks at once is faster with b.> too. A client that
// submits with unique keys also needs u.>, a client that cancels needs x.>, and an operator also
// needs p.>, d.> and r.>. Clients that wait for their tasks believe
// anybody who may publish to $TASKS.<ns>.*.done.>: only schedulers may have that permission.
package assign

// This package is the typed face. The parts behind it are packages of their own, which never call
// back:
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
