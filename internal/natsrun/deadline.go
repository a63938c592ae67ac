package natsrun

import (
	"sync"
	"time"
)

// deadline is a moment that can be moved while somebody waits for it. The zero value never passes.
type deadline struct {
	mu     sync.Mutex
	timer  *time.Timer
	passed chan struct{} // made on first use, so that it belongs to the bubble that uses it
}

// set moves the deadline; the zero time takes it away.
func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.passed == nil || isClosed(d.passed) {
		d.passed = make(chan struct{})
	}
	if at.IsZero() {
		return
	}
	passed := d.passed
	left := time.Until(at)
	if left <= 0 {
		close(passed)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		// A timer that was replaced just as it fired must not end its successor's wait.
		if d.timer == timer {
			close(passed)
		}
	})
	d.timer = timer
}

// done is closed when the deadline passes. A waiter keeps the channel it got: moving a deadline
// that has not passed keeps the channel, so the waiter follows the move.
func (d *deadline) done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.passed == nil {
		d.passed = make(chan struct{})
	}
	return d.passed
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
