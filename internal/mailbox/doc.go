// Package mailbox holds the queue between goroutines that must not wait and the one goroutine that does the work.
//
//	Put ──┐
//	Put ──┼──▶ queue ──▶ Ready ──▶ Drain: everything at once, in order
//	Put ──┘
//
// A callback of the connection, or a user's call that promises not to block, puts; the owner drains. A channel would
// make one of them wait, or drop, when it is full.
//
// Promises: Put never blocks on the consumer; what one producer puts is drained in the order it was put; everything
// put before Close is still drained; memory of a burst is given back.
//
// Who bounds it: the type does not. The owner of a mailbox must be able to name what limits the number of values in
// it (writes in flight per caller, the server's flow control window, one pending command per role), and says so where
// it makes the mailbox.
//
// Failures: Put on a closed mailbox returns false and drops the value.
package mailbox
