// Package tasksim is a discrete-event simulation of tasks: the real rules of package internal/protocol/tasks, with members
// that crash, are cut off and come back, schedulers that were deposed and go on for a while, views that lag, frames that are
// lost, late or doubled, and writes that arrive long after they were given up.
//
//	scenario ──► world: a heap of events on one clock
//	               ├── bucket: one log of leases, members, roles and deaths; every process has its own lagging view
//	               ├── store: the stream, with its conditions
//	               ├── schedulers: tasks.Scheduler, any number of them at once
//	               └── workers: tasks.Worker behind the checks of a follower
//
// Checked all the time: no two live handlers of one task; one outcome each, of an attempt that ran and is the largest that
// did; failures that were settled count for every later scheduler; in the end every acknowledged submission has its outcome.
// The list of mutants names the rules that were taken out, each of which is caught.
//
// Files: world.go the clock · scenario.go what is drawn · bucket.go sessions, views, roles · store.go the stream ·
// client.go submissions · scheduler.go one term · worker.go one worker · checks.go what must hold.
package tasksim
