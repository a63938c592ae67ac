package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
)

// Pauses after a panic of the loop. Each panic doubles the pause, unless the loop had run for the
// longest pause before.
const (
	firstPause   = time.Second
	longestPause = 5 * time.Minute
)

// collapsed is a panic of the loop, or of a callback that gives the loop messages.
type collapsed struct {
	value any
	stack []byte
}

// guarded runs the loop until it ends, or panics. After a panic the rules are half way through a
// step, so nothing they say counts any more: another loop under the same session could start a
// second handler beside the one that runs. So the handlers are cancelled, and the session ends at
// once: its tasks go to others.
func (s *worker) guarded() (err error) {
	began := time.Now()
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		c, is := v.(collapsed)
		if !is {
			c = collapsed{v, debug.Stack()}
		}
		s.stubborn = true // the session is not called closed: handlers may run on
		s.abandon()
		s.h.Emit(event.Fault{
			Meta: s.meta(), Doing: "work for " + s.cfg.Namespace, Attempts: s.handlers.collapse(time.Since(began)),
			Err: fmt.Errorf("%w: %v\n%s", taskerr.ErrWorkerPanicked, c.value, c.stack),
		})
		s.h.End("the worker's loop has panicked")
	}()
	return s.run()
}

// hear gives the loop what a callback of the connection makes of a message. A panic of the callback
// is one of the loop.
func (s *worker) hear(take func(m *nats.Msg) any) nats.MsgHandler {
	return func(m *nats.Msg) {
		defer func() {
			if v := recover(); v != nil {
				s.in.Put(collapsed{v, debug.Stack()})
			}
		}()
		s.in.Put(take(m))
	}
}

// collapse notes a panic of a loop that had run for a time, and returns how many came in a row.
func (r *Registry) collapse(ran time.Duration) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ran > longestPause {
		r.panics = 0
	}
	r.resume = time.Now().Add(min(firstPause<<min(r.panics, 16), longestPause))
	r.panics++
	return r.panics
}

// rest waits until the pause after a panic is over. It returns false if ctx ends before.
func (r *Registry) rest(ctx context.Context) bool {
	r.mu.Lock()
	left := time.Until(r.resume)
	r.mu.Unlock()
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
