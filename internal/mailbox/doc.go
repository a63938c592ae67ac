// Package mailbox holds the queue between goroutines that must not wait and the one goroutine that
// does the work.
//
// A callback of the connection, or a user's call that promises not to block, puts a value; the
// owner drains. A full channel would make the callback or the call wait, or drop its value.
//
// Promises: Put never blocks on the consumer. Values of one producer are drained in the order in
// which it put them. Everything that was put before Close can still be drained. The memory of a
// burst is given back.
//
// The type has no bound. The owner of a mailbox must be able to name what limits the number of
// values in it (writes in flight per caller, the server's flow control window, one pending command
// per role), and says so where it makes the mailbox.
//
// Failures: Put on a closed mailbox returns false and drops the value.
package mailbox
