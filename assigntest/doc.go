// Package assigntest helps to test the handlers of tasks, without a server and with one.
//
//	NewTask ──► handler ──► its output, its error, Progress          no server: the handler is called as a function
//	Start   ──► scheduler, workers, client ──► Submit, Wait          a server and everything in the test's process
//
// [NewTask] makes a task as a handler gets it, with a fencing token of its own, the headers, the checkpoint and the attempt
// that the test wants; [Progress] is what the handler has said about its progress.
//
// [Start] runs a whole namespace: a NATS server with a temporary store, an instance that schedules and works, and more that
// only work ([Workers]), with the handlers under test and a configuration of the test's own ([Configure]). All of it ends
// with the test; [Namespace.Stop] shuts a worker down before.
//
// # Failures
//
// What cannot be started fails the test. A handler that still runs when the test ends is cancelled, with cause
// [assign.ErrDraining], a second later; one that ignores its context is left behind.
//
// # Files
//
// task.go · namespace.go.
package assigntest
