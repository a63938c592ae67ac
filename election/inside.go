package election

import (
	"runtime"
	"sync/atomic"
)

// callers are the goroutines that run the callbacks of a term, by number, 0 for none. A call from
// one of them that waits for the drain would wait for itself.
type callers struct{ lead, promote, demote atomic.Uint64 }

func (c *callers) here() bool {
	id := goroutine()
	return id == c.lead.Load() || id == c.promote.Load() || id == c.demote.Load()
}

// inside reports whether the calling goroutine runs the work of the latest term.
func (e *Election) inside() bool {
	t := e.latest.Load()
	return t != nil && t.callers.here()
}

// insideAny reports whether the calling goroutine runs the work of any role.
func (s *Session) insideAny() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.elections {
		if e.inside() {
			return true
		}
	}
	return false
}

// goroutine is the number of the calling goroutine, which no other one ever has. Its stack begins
// with "goroutine 17 [running]".
func goroutine() (id uint64) {
	var text [32]byte
	n := runtime.Stack(text[:], false)
	for _, c := range text[len("goroutine "):n] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uint64(c-'0')
	}
	return id
}
