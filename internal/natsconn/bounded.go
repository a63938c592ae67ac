package natsconn

import "time"

// Within calls hang, which may hang in the connection while the peer's TCP is frozen, and waits for
// it for at most d. A call that takes longer ends by itself, with the connection's own deadline.
func Within(d time.Duration, hang func()) {
	done := make(chan struct{})
	go func() {
		hang()
		close(done)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// askPatience is longer than any answer takes if no lock is held.
const askPatience = 100 * time.Millisecond

// Soon returns the result of ask, or otherwise if ask takes longer than a moment. The connection
// answers under a lock, which it holds while it reconnects.
func Soon[T any](ask func() T, otherwise T) T {
	answer := make(chan T, 1)
	go func() { answer <- ask() }() // it ends with the connection's own deadline
	timer := time.NewTimer(askPatience)
	defer timer.Stop()
	select {
	case v := <-answer:
		return v
	case <-timer.C:
		return otherwise
	}
}
