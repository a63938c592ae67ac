package mailbox

import "sync"

// keep is the largest capacity, in values, of a drained buffer that is used again. What a burst has needed beyond it
// goes back to the garbage collector.
const keep = 1024

// Mailbox is a FIFO queue with many producers and one consumer. Make it with New.
type Mailbox[T any] struct {
	ready chan struct{} // size 1: a token means "not empty, or closed", however often that was said

	mu     sync.Mutex
	queue  []T
	closed bool
}

// New returns an empty, open mailbox.
func New[T any]() *Mailbox[T] {
	return &Mailbox[T]{ready: make(chan struct{}, 1)}
}

// Put adds v at the end and wakes the consumer. It never waits for the consumer. It returns false, and drops v, once
// the mailbox is closed.
func (m *Mailbox[T]) Put(v T) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.queue = append(m.queue, v)
	first := len(m.queue) == 1
	m.mu.Unlock()
	if first {
		m.wake()
	}
	return true
}

// Ready returns the channel that gives one token whenever there may be something to drain, and one at Close. The
// consumer drains after each token; a token with nothing behind it can happen.
func (m *Mailbox[T]) Ready() <-chan struct{} { return m.ready }

// Drain returns all that is queued, oldest first. It takes buf, whose values the consumer has dealt with, as room for
// what comes next: the consumer passes what the last Drain returned, and keeps no reference to it.
func (m *Mailbox[T]) Drain(buf []T) []T {
	clear(buf) // so that the spare room keeps nothing alive
	if cap(buf) > keep {
		buf = nil
	}
	m.mu.Lock()
	out := m.queue
	m.queue = buf[:0]
	m.mu.Unlock()
	return out
}

// Close ends the mailbox: Put fails from now on, what is queued can still be drained. It wakes the consumer and may be
// called again.
func (m *Mailbox[T]) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.wake()
}

// Closed reports whether Close has been called. After Closed is true, what the next Drain returns is the last.
func (m *Mailbox[T]) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *Mailbox[T]) wake() {
	select {
	case m.ready <- struct{}{}:
	default: // a token already lies there
	}
}
