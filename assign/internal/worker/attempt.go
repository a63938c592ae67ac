package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// assigned takes a frame of assignments that has passed the gate; until is set when it has waited. Under an idle session
// nothing is begun: the frame waits for the beat that ends that.
func (s *worker) assigned(frame []byte, m *nats.Msg, until time.Time) {
	v, low, list, err := tasks.DecodeAssign(frame)
	if err != nil {
		s.rejected("", record.Malformed)
		return
	}
	assignments := make([]tasks.Assignment, len(list))
	for i := range list {
		assignments[i] = list[i].Assignment
	}
	if !s.h.Believes() {
		s.reject(m, v, tasks.NotReady)
		return
	}
	if !s.closing && !s.wake() {
		s.park(m, until, tasks.NotReady)
		return
	}
	s.step(tasks.Pushed{
		Term: v.Term, Low: low, List: assignments, Ref: &reply{m.Reply, v.Number}, Blocked: s.handlers.blockedTasks(),
	})
	i := 0
	for _, e := range s.effects {
		switch e := e.(type) {
		case tasks.Start:
			for list[i].ID != e.Assignment.ID || list[i].Serial != e.Assignment.Serial { // starts are in the frame's order
				i++
			}
			s.start(&list[i])
		case tasks.Reply:
			for j, answer := range e.Answers {
				if answer.Verdict == tasks.Replayed { // the scheduler has done with it, and would not count it
					s.rejected(list[j].Policy.Kind, answer.Verdict.String())
				}
			}
		}
	}
}

func (s *worker) rejected(kind, reason string) {
	s.h.Emit(event.TaskRejected{Meta: s.meta(), Namespace: s.cfg.Namespace, Kind: kind, Worker: s.h.Instance(), Reason: reason})
}

// execution is one attempt whose handler runs.
type execution struct {
	s       *worker
	id      string
	kind    string
	attempt tasks.Attempt
	weight  int // slots that it takes
	began   time.Time

	// life ends when nothing that the attempt still says counts: its session is lost, its task has ended, or its handler has
	// returned. ctx, the handler's, ends with it, and when the worker shuts down.
	life     life
	ctx      context.Context
	cancel   context.CancelCauseFunc
	release  func() bool // lets go of the lease's context
	progress progress
	reporting

	mu       sync.Mutex
	over     bool
	outlived bool // its session is lost: what it returns is for nobody
}

// start runs a handler in a goroutine of its own.
func (s *worker) start(t *tasks.Task) {
	x := &execution{s: s, id: t.ID, kind: t.Policy.Kind, attempt: t.Attempt, weight: max(t.Policy.Weight, 1), began: time.Now()}
	x.ctx, x.cancel = context.WithCancelCause(context.Background())
	x.release = context.AfterFunc(s.ctx, x.leaseOver)
	s.runs[t.ID] = x
	h := s.handlers.handler(t.Policy.Kind)
	run := bridge.TaskRun{
		ID: t.ID, Kind: t.Policy.Kind, Attempt: t.Try, Token: fence(t.ID, s.h.Instance(), t.Attempt), Trace: t.Trace,
		Headers: record.HeadersOf(t.Header), Began: x.began, Reporter: x,
	}
	if len(t.Saved) > 0 {
		run.Checkpoint = t.Saved
	}
	bounds := attemptBounds{timeout: t.Policy.Timeout, left: t.Left, retention: t.Policy.Retention}
	go x.run(h, t.Payload, run, bounds) // awaited by the drain; after the loss of the session it blocks its task here until it returns
}

func (x *execution) run(h Handler, input []byte, run bridge.TaskRun, b attemptBounds) {
	ctx, done := b.limit(x.ctx)
	f := tasks.Finding{Verb: tasks.Failed, Data: goexitFailure} // unless it returns
	defer func() {
		if errors.Is(context.Cause(ctx), taskerr.ErrTaskExpired) { // whatever it returned
			f = tasks.Finding{Verb: tasks.Overdue}
		}
		done()
		x.release()
		x.lose(taskerr.ErrAttemptEnded)
		f.ID, f.Attempt, f.Ran = x.id, x.attempt, int64(time.Since(x.began))
		x.finish(f)
	}()
	data, err := call(ctx, h, input, run)
	if err == nil && len(data) > x.s.inline() {
		f = x.s.objects.finding(ctx, x, data, b.retention)
		return
	}
	f = attemptResult(ctx, data, err)
}

// lose ends the attempt's life, and the handler's context with it.
func (x *execution) lose(cause error) {
	x.life.end(cause)
	x.cancel(cause)
}

// leaseOver cancels the handler when the lease is lost, whatever the shift's loop waits for just then. While the session is being
// closed handlers go on, and the loop sees to them.
func (x *execution) leaseOver() {
	if !errors.Is(context.Cause(x.s.ctx), election.ErrClosed) {
		x.abandon()
	}
}

// abandon cancels a handler whose session is lost.
func (x *execution) abandon() {
	x.lose(taskerr.ErrSessionLost)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && !x.outlived {
		x.outlived = true
		x.s.handlers.block(x.id, x.weight)
	}
}

func (x *execution) finish(f tasks.Finding) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	if x.outlived {
		x.s.handlers.block(x.id, -x.weight)
		return
	}
	x.s.in.Put(returned{x, f})
}

// attemptBounds are an attempt's, as its task wants them.
type attemptBounds struct {
	timeout, left time.Duration // 0: none
	retention     time.Duration
}

// limit gives an attempt its timeout or its task's deadline, whichever is earlier.
func (b attemptBounds) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case b.timeout > 0 && (b.left <= 0 || b.timeout < b.left):
		return context.WithTimeoutCause(ctx, b.timeout, taskerr.ErrTimeout)
	case b.left > 0:
		return context.WithTimeoutCause(ctx, b.left, taskerr.ErrStoppedByDeadline)
	default:
		return ctx, func() {}
	}
}

// ended takes what a handler returned.
func (s *worker) ended(r returned) {
	if s.runs[r.x.id] == r.x {
		delete(s.runs, r.x.id)
	}
	s.outbox.keep(r.finding)
	s.step(tasks.Ended{ID: r.finding.ID, Attempt: r.finding.Attempt})
}

// fence is the token of an attempt. Its id is random: whoever holds the token was handed it by this worker.
func fence(id, holder string, a tasks.Attempt) fencing.Token {
	return fencing.NewToken("task/"+id, holder, a.Epoch, a.N, uuid.New())
}
