// Package assigntest helps to test the handlers of tasks, with or without a server.
//
// [NewTask] needs no server: the test calls the handler as a function. NewTask makes a task as a
// handler gets it, with its own fencing token. The test chooses the headers, the checkpoint and the
// attempt. [Progress] returns the progress that the handler has reported.
//
// [Start] runs a whole namespace: a NATS server with a temporary store, an instance that schedules
// and works, and instances that only work ([Workers]). The instances have the handlers under test,
// and the configuration that the test gives ([Configure]). The namespace ends with the test;
// [Namespace.Stop] shuts a worker down earlier.
//
// # Failures
//
// A part that cannot be started fails the test. A handler that still runs when the test ends is
// cancelled a second later, with cause [assign.ErrDraining]. A handler that ignores its context is
// left behind.
package assigntest
