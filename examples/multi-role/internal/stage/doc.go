// Package stage shows a program at work: it starts NATS, several instances and a worker, gives them
// tasks, harms them, and reports the result.
//
// The program does not know about the stage. The stage acts on an instance through the dialer of
// its connection, which can be cut, and through the end of its context. It kills the worker as a
// process. It watches through sinks, through a wrap around the work of each role, through the
// middleware of the handlers, and through the HTTP endpoint of each instance.
//
// # Promises
//
//   - Intervals of leadership are read from one monotonic clock, by the work itself: the first and
//     the last thing that a Lead does.
//   - Every outcome is compared with a digest that is computed here.
//   - All that was started has ended when Run returns, whichever way it returns, and no file is
//     left behind.
//   - With -json stdout holds one JSON document and nothing else.
//
// # Failures
//
// Run returns the exit status: 0 for a right result, 1 for a wrong one or a fault, 2 for a wrong
// command line, 130 for an interrupt before every task was done.
package stage
