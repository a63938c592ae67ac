// Package assigntest helps to test the handlers of tasks, without a server and with one.
//
// [NewTask] makes a task as a handler gets it, with a fencing token of its own: so that a test calls the handler directly.
// [Start] runs a whole namespace in the test's process: a NATS server, a scheduler and a worker with the handlers under
// test, to submit to.
//
// Files: task.go · namespace.go.
package assigntest
