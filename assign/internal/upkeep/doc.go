// Package upkeep looks after what a namespace keeps of tasks that have ended: it counts dead tasks,
// and removes large outputs that no task needs. The state of a scheduler has no such tasks, so it
// reads the stream from time to time.
//
// It runs for a scheduler's term, beside the scheduler. Nothing that a scheduler decides depends on
// it.
package upkeep
