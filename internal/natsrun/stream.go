package natsrun

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// window is the most bytes that one direction of a connection keeps, as sockets and routers
	// would.
	window = 16 << 20
	// grain is the size up to which bytes with the same due time share a chunk.
	grain = 32 << 10
)

// errWindow means that a path in virtual time would have to stop its writer.
var errWindow = errors.New("natsrun: window of a link is full")

// fault is what one direction of a path does to the bytes on it. The zero value passes them on.
type fault struct {
	drop, hold bool
	delay      time.Duration
}

// chunk is a run of bytes that leave together, or the end of the stream.
type chunk struct {
	due  time.Time // zero: at once
	data []byte
	fin  bool
}

// stream is one direction of one connection: a queue of chunks with one taker.
//
// Invariant: chunks leave in the order in which they came. Only the head is checked, so a chunk
// that is due early waits for those before it.
type stream struct {
	neverBlock bool          // virtual time: a full window is an error
	wake       chan struct{} // size 1: something may have become ready for the taker
	room       chan struct{} // size 1: something may have become free for a writer

	mu      sync.Mutex
	fault   fault
	queue   []chunk
	spare   []byte // the buffer of the last chunk that was used up
	waiting int    // bytes in queue
	dropped int64  // bytes lost so far
	lossy   bool   // was cut once: the stream has a hole, or may have one
	gone    error  // set: nobody takes any more, and put discards its bytes
}

func newStream(neverBlock bool) *stream {
	return &stream{neverBlock: neverBlock, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put appends p. It waits for room until expired is closed (os.ErrDeadlineExceeded); a stream that
// never blocks returns errWindow instead. Bytes that are dropped, or that nobody takes any more,
// count as written, as with TCP.
func (s *stream) put(p []byte, expired <-chan struct{}) (int, error) {
	written := 0
	for written < len(p) {
		s.mu.Lock()
		switch free := window - s.waiting; {
		case s.gone != nil:
			s.mu.Unlock()
			return len(p), nil
		case s.fault.drop:
			s.dropped += int64(len(p) - written)
			s.mu.Unlock()
			return len(p), nil
		case free > 0:
			n := min(free, len(p)-written)
			s.push(p[written : written+n])
			written += n
			s.mu.Unlock()
			signal(s.wake)
			if n < free {
				signal(s.room) // another writer may wait behind this one
			}
		default:
			s.mu.Unlock()
			if s.neverBlock {
				return written, errWindow
			}
			select {
			case <-s.room:
			case <-expired:
				return written, os.ErrDeadlineExceeded
			}
		}
	}
	return written, nil
}

// push appends p as a chunk or to the last one. s.mu is held.
func (s *stream) push(p []byte) {
	due := s.due()
	s.waiting += len(p)
	if n := len(s.queue); n > 0 {
		last := &s.queue[n-1]
		if !last.fin && last.due.Equal(due) && len(last.data)+len(p) <= grain {
			last.data = append(last.data, p...)
			return
		}
	}
	s.enqueue(chunk{due: due, data: append(s.spare[:0], p...)})
	s.spare = nil
}

// enqueue appends c. s.mu is held. The queue moves forward in its array as chunks leave; an array
// of its own every 64 chunks is cheaper than one for each.
func (s *stream) enqueue(c chunk) {
	if len(s.queue) == 0 && cap(s.queue) == 0 {
		s.queue = make([]chunk, 0, 64)
	}
	s.queue = append(s.queue, c)
}

// due is when a chunk that comes now may leave. s.mu is held.
func (s *stream) due() time.Time {
	if s.fault.delay == 0 {
		return time.Time{}
	}
	return time.Now().Add(s.fault.delay)
}

// finish appends the end of the stream. The faults apply to it as to a byte: a cut path loses it.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil || s.fault.drop {
		return
	}
	s.enqueue(chunk{due: s.due(), fin: true})
	signal(s.wake)
}

// take waits for bytes that may leave and copies them to p. It returns io.EOF at the end of the
// stream, the reason given to abandon, or os.ErrDeadlineExceeded when expired is closed.
func (s *stream) take(p []byte, expired <-chan struct{}) (int, error) {
	for {
		if isClosed(expired) {
			return 0, os.ErrDeadlineExceeded
		}
		n, wait, err := s.pop(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		var due <-chan time.Time
		var timer *time.Timer
		if wait > 0 {
			timer = time.NewTimer(wait)
			due = timer.C
		}
		select {
		case <-s.wake:
		case <-due:
		case <-expired:
		}
		if timer != nil {
			timer.Stop()
		}
	}
}

// pop copies the bytes that may leave now, or returns after which time to check again (0: when
// woken).
func (s *stream) pop(p []byte) (n int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		return 0, 0, s.gone
	}
	for len(s.queue) > 0 && n < len(p) && !s.fault.hold {
		head := &s.queue[0]
		if !head.due.IsZero() {
			if wait = time.Until(head.due); wait > 0 {
				break
			}
			wait = 0
		}
		if head.fin {
			if n == 0 {
				err = io.EOF
			}
			break
		}
		k := copy(p[n:], head.data)
		n += k
		if k < len(head.data) {
			head.data = head.data[k:]
			break
		}
		s.shift()
	}
	if n > 0 {
		s.waiting -= n
		signal(s.room)
	}
	return n, wait, err
}

// shift removes the head, which is used up. s.mu is held.
func (s *stream) shift() {
	if cap(s.queue[0].data) >= grain/8 {
		s.spare = s.queue[0].data[:0]
	}
	s.queue[0] = chunk{}
	s.queue = s.queue[1:]
}

// impose makes f the fault of the stream from now on. Dropping also takes the bytes under way.
func (s *stream) impose(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
	if f.drop {
		s.lossy = true
		s.dropped += int64(s.waiting)
		s.queue, s.waiting = nil, 0
		signal(s.room)
	}
	signal(s.wake)
}

// abandon ends the taking: take returns err from now on, and put discards its bytes. The first
// reason stays.
func (s *stream) abandon(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = err
		s.queue, s.waiting, s.spare = nil, 0, nil
	}
	signal(s.wake)
	signal(s.room)
}

// traffic is how many bytes wait and how many were lost.
func (s *stream) traffic() (waiting int, dropped int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting, s.dropped
}

// torn reports whether the stream was cut once and no longer is: its next bytes would follow a
// hole.
func (s *stream) torn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lossy && !s.fault.drop
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
