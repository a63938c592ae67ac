package assign

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// assigned takes a frame of assignments that has passed the gate.
func (s *shift) assigned(frame []byte, m *nats.Msg) {
	v, low, list, err := tasks.DecodeAssign(frame)
	if err != nil {
		s.reject(m, v, tasks.Forged)
		return
	}
	assignments := make([]tasks.Assignment, len(list))
	for i := range list {
		assignments[i] = list[i].Assignment
	}
	if !s.h.Believes() || !s.wake() {
		s.reject(m, v, tasks.NotReady)
		return
	}
	s.step(tasks.Pushed{
		Term: v.Term, Low: low, List: assignments, Ref: &reply{m.Reply, v.Number}, Blocked: s.a.blockedTasks(),
	})
	i := 0
	for _, e := range s.effects {
		if start, ok := e.(tasks.Start); ok {
			for list[i].ID != start.Assignment.ID || list[i].Attempt != start.Assignment.Attempt { // starts are in the frame's order
				i++
			}
			s.start(list[i])
		}
	}
}

// start runs a handler in a goroutine of its own.
func (s *shift) start(t tasks.Task) {
	now := time.Now()
	ctx, cancel := context.WithCancelCause(context.Background())
	x := &execution{s: s, id: t.ID, attempt: t.Attempt, cancel: cancel}
	s.runs[t.ID] = x
	run := bridge.TaskRun{
		ID: t.ID, Kind: t.Policy.Kind, Attempt: t.Try, Token: fence(t.ID, s.h.Instance(), t.Attempt), Trace: t.Trace, Began: now,
	}
	h := s.a.handler(t.Policy.Kind)
	most := int(s.h.Conn().MaxPayload()) - headroom
	go func() { // awaited by the drain; after the loss of the session it blocks its task here until it returns
		work, done := limit(ctx, t)
		data, err := call(work, h, run, t.Payload)
		f := finding(work, data, err, most)
		done()
		cancel(nil)
		f.ID, f.Attempt, f.Ran = t.ID, t.Attempt, int64(time.Since(now))
		x.finish(f)
	}()
}

// execution is one handler that runs.
type execution struct {
	s       *shift
	id      string
	attempt tasks.Attempt
	cancel  context.CancelCauseFunc

	mu       sync.Mutex
	over     bool
	outlived bool // its session is lost: what it returns is for nobody
}

// abandon cancels a handler whose session is lost.
func (x *execution) abandon() {
	x.cancel(ErrSessionLost)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && !x.outlived {
		x.outlived = true
		x.s.a.block(x.id, 1)
	}
}

func (x *execution) finish(f tasks.Finding) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	if x.outlived {
		x.s.a.block(x.id, -1)
		return
	}
	x.s.in.Put(returned{x, f})
}

// limit gives an attempt its timeout and its task's deadline.
func limit(ctx context.Context, t tasks.Task) (context.Context, context.CancelFunc) {
	cancels := []context.CancelFunc{}
	if t.Policy.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.Policy.Timeout, ErrTimeout)
		cancels = append(cancels, cancel)
	}
	if t.Left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.Left, ErrStopped)
		cancels = append(cancels, cancel)
	}
	return ctx, func() {
		for _, cancel := range cancels {
			cancel()
		}
	}
}

// ended takes what a handler returned.
func (s *shift) ended(r returned) {
	if s.runs[r.x.id] == r.x {
		delete(s.runs, r.x.id)
	}
	s.outbox.keep(r.finding)
	s.step(tasks.Ended{ID: r.finding.ID, Attempt: r.finding.Attempt})
}
