package mailbox

import "sync"

// keep is the largest capacity, in values, of a drained buffer that is used again. A buffer that a
// burst has made larger goes back to the garbage collector.
const keep = 1024

// Mailbox is a FIFO queue with many producers and one consumer. Make it with New.
type Mailbox[T any] struct {
	ready chan struct{} // size 1: a token means "not empty, or closed", however often that was signalled

	mu     sync.Mutex
	queue  []T
	closed bool
}

// New returns an empty, open mailbox.
func New[T any]() *Mailbox[T] {
	return &Mailbox[T]{ready: make(chan struct{}, 1)}
}

// Put adds v at the end and wakes the consumer, but never waits for it. Once the mailbox is closed,
// Put returns false and drops v.
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

// Ready returns the channel that gives one token whenever there may be something to drain, and one
// at Close. The consumer drains after each token. The mailbox may be empty after a token.
func (m *Mailbox[T]) Ready() <-chan struct{} { return m.ready }

// Drain returns all queued values, oldest first. It reuses buf, whose values the consumer has
// handled, for the values that come next: the consumer passes the result of the last Drain, and
// keeps no reference to it.
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

// Close ends the mailbox: Put fails from now on, but queued values can still be drained. It wakes
// the consumer and may be called again.
func (m *Mailbox[T]) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.wake()
}

// Closed reports whether Close has been called. After Closed is true, the next Drain returns the
// last values.
func (m *Mailbox[T]) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *Mailbox[T]) wake() {
	select {
	case m.ready <- struct{}{}:
	default: // a token is already there
	}
}
