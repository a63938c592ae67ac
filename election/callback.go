package election

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// apart calls f in a goroutine of its own and, however f has ended, then is called there: with what
// f panicked with, and where; stack is nil when f returned. The goroutine is f's alone, since
// runtime.Goexit (a FailNow of package testing, for one) ends it and cannot be caught.
func apart(f func(), then func(value any, stack []byte)) {
	go func() {
		returned := false
		defer func() {
			if returned {
				then(nil, nil)
				return
			}
			value := recover()
			if value == nil {
				value = errGoexit
			}
			then(value, debug.Stack())
		}()
		f()
		returned = true
	}()
}

var errGoexit = errors.New("runtime.Goexit was called")

// rescue calls f apart and waits for it.
func rescue(f func()) (value any, stack []byte) {
	done := make(chan struct{})
	apart(f, func(v any, s []byte) {
		value, stack = v, s
		close(done)
	})
	<-done
	return value, stack
}

// call turns a panic into an error that carries its stack.
func call(f func() error) (err error) {
	if value, stack := rescue(func() { err = f() }); stack != nil {
		return panicked(value, stack)
	}
	return err
}

func panicked(value any, stack []byte) error { return fmt.Errorf("panic: %v\n%s", value, stack) }

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
