// Package tasksim is a discrete-event simulation of tasks: the real rules of package
// internal/protocol/tasks, with members that crash, are cut off and come back, schedulers that were
// deposed and continue for a while, views that lag, frames that are lost, late, doubled or
// incomplete, writes that arrive long after they were given up, outcomes that expire and ids that
// are used again, processes that stand still for a while, buckets that are recreated, sessions that
// crash and whose records somebody removes, terms that are rotated, local clocks that are years
// apart and go at other rates, steps of the stream's clock, processes of two versions, and results
// that the stream never takes.
//
// A scenario is played in a world, which has an agenda of events on one clock, and these parts:
//
//   - bucket: one log of leases, members, roles and deaths. Every process has its own lagging view.
//   - store: the stream, with its conditions
//   - clients: submit (with unique keys), cancel, requeue dead tasks, pause, drain, define
//     recurrences, declare limits and override them
//   - schedulers: tasks.Scheduler, any number of them at once
//   - workers: workers.Worker behind frame.Addressee, which judges their frames as in a follower
//
// Checked all the time:
//   - no two live handlers of one task, but of sessions whose bucket is gone; attempts of a task
//     increase, also when it is submitted again
//   - once a worker's process has epoch e in its view (T3), it starts, takes, stops and tells
//     nothing by a frame of an earlier one, also when nobody leads in view, and in no later
//     session; nor by a frame of an epoch that is not in view yet; and it starts no attempt of an
//     earlier term. Such frames are counted as refused
//   - one outcome for each submission, of an attempt of that submission that ran and is the largest
//     that did
//   - failures that were settled count for every later scheduler, and only those of this submission
//     do
//   - a task is cancelled only if that was asked for, and the request stands until then
//   - a later attempt is given the last checkpoint that was acknowledged, or a later one
//   - a task is dead for an input that could not be decoded only if no worker that can takes any
//   - a task is dead for lost workers only if nothing else ran in the last one
//   - at most one open task has a unique key, and the record of an open one is not freed
//   - a tick is submitted once; under CatchUpAll each one is; what stands in its place stays
//   - a recurrence that is known to be paused fires nothing, and stays so when it is changed
//   - what belongs to an open task is not removed, also by a scheduler of an earlier version that
//     cannot read the task; the last tick of a recurrence stands for as long as its definition does
//   - nothing is handed out before its time, or long after its deadline, and nothing expires before
//     that, whatever the local clocks say
//   - one scheduler hands out nothing of a kind that it knows to be paused, to a worker that it
//     knows to be drained, or to one without the labels; not more at once, or per second, than the
//     limits say, those of a record whatever the submissions say; nothing before what has waited
//     longer, with its priority
//   - where no record changes the limits, no more handlers run than they say, under any leader, but
//     of tasks that are cancelled or may expire, and of those that an earlier version cannot read
//   - the declared version of a kind's limits never goes back, what is declared under a version
//     stays, and no declaration takes an override back
//
// In the end every acknowledged submission has its outcome, and nothing is left of tasks that have
// ended but that.
//
// Sessions are a model here: one is ended only when its member has stopped believing in it. That
// the rules of sessions keep to that, for workers and for sessions that were idle a moment ago, is
// what the workload of package electionsim is about. A write is answered once, as package natskv
// promises: what comes later is not passed on.
//
// Schedules are drawn so that they can be shrunk, and, rougher, at random: those cannot be, but the
// same seed plays the same schedule, whose story can be told. The scheduler's process crashes after
// every single effect in turn, in a world without other faults; and tasks that kill every process
// that runs them, the scheduler's too, end dead, and no others. The list of mutants names the rules
// that were taken out, each of which is caught.
package tasksim
