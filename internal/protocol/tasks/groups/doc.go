// Package groups is the state of tasks that wait for other tasks: which wait for which, and what
// became of those.
//
//	edges.go    dependencies: a task runs after the tasks that it names
//	tally.go    groups: what became of each member
//
// It has no I/O, no clock and no goroutine. Package tasks gives it what the stream has shown, and
// asks it what may run.
package groups
