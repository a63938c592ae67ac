package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// ask draws one thing that somebody wants while the storm rages: mostly a task. All that is left to
// chance is drawn here. A goroutine of its own does the rest, which may take time.
func (s *taskStorm) ask() {
	switch s.Rand.IntN(40) {
	case 0:
		kind := Kinds[s.Rand.IntN(len(Kinds))].Name()
		s.paused[kind] = true
		s.later("paused", func(ctx context.Context) error { return assign.PauseKind(ctx, s.a.Operator, kind, "a storm") })
	case 1:
		for kind := range s.paused {
			delete(s.paused, kind)
			s.later("resumed", func(ctx context.Context) error { return assign.ResumeKind(ctx, s.a.Operator, kind) })
			break
		}
	case 2:
		if alive := s.a.Alive(); len(alive) > 0 {
			instance := alive[s.Rand.IntN(len(alive))].Name
			s.drained[instance] = true
			s.later("drained", func(ctx context.Context) error {
				return assign.DrainWorker(ctx, s.a.Operator, instance, "a storm")
			})
		}
	case 3, 4, 5:
		s.together()
	default:
		s.submit()
	}
}

// later does something that may not succeed in time: then nobody knows whether it was done.
func (s *taskStorm) later(what string, f func(ctx context.Context) error) {
	s.workload.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 6*s.a.TTL)
		defer cancel()
		if err := f(ctx); err != nil {
			s.a.Tally.Add(what+"/not known", 1)
			return
		}
		s.a.Tally.Add(what, 1)
	})
}

// upTo draws a duration.
func (s *taskStorm) upTo(d time.Duration) time.Duration {
	return time.Duration(1 + s.Rand.Int64N(int64(d)))
}

// oneIn draws whether something happens.
func (s *taskStorm) oneIn(n int) bool { return s.Rand.IntN(n) == 0 }

// submit has one task submitted, of any kind and fate.
func (s *taskStorm) submit() {
	s.tasks++
	ttl, id, kind := s.a.TTL, fmt.Sprintf("t%d", s.tasks), Kinds[s.Rand.IntN(len(Kinds))]
	o := s.order()
	opts := []assign.SubmitOption{assign.WithID(id)}
	draw := func(n int, option func() assign.SubmitOption) {
		if s.oneIn(n) {
			opts = append(opts, option())
		}
	}
	due := time.Duration(0)
	draw(5, func() assign.SubmitOption {
		due = s.upTo(2 * ttl)
		return assign.WithDelay(due)
	})
	draw(6, func() assign.SubmitOption { return assign.WithDeadline(due + time.Millisecond + s.upTo(4*ttl)) })
	draw(3, func() assign.SubmitOption { return assign.WithPriority(s.Rand.IntN(100) - 50) })
	draw(4, func() assign.SubmitOption { return assign.WithSticky(fmt.Sprint("s", s.Rand.IntN(3))) })
	draw(4, func() assign.SubmitOption { return assign.WithLimitKey(fmt.Sprint("l", s.Rand.IntN(3))) })
	draw(6, func() assign.SubmitOption { return assign.WithUnique(fmt.Sprint("u", s.Rand.IntN(3))) })
	w := s.wish()
	s.workload.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 6*ttl)
		defer cancel()
		if p := s.submitted(ctx, kind, o, opts...); p != nil {
			s.follow(ctx, p, w)
		}
	})
}

// wish is what somebody does with a task that is submitted.
type wish struct {
	cancelAfter time.Duration // 0: it is not cancelled
	requeue     bool          // it is requeued when it is dead
}

func (s *taskStorm) wish() (w wish) {
	w.requeue = s.oneIn(2)
	if s.oneIn(6) {
		w.cancelAfter = s.upTo(3 * s.a.TTL)
	}
	return w
}

// submitted submits a task. It returns nil if nobody knows whether that was done.
func (s *taskStorm) submitted(ctx context.Context, kind assign.Kind[Order, string], o Order,
	opts ...assign.SubmitOption,
) *assign.Pending[string] {
	p, err := assign.Submit(ctx, s.from, kind, o, opts...)
	if err != nil {
		s.a.Tally.Add("submission not known", 1)
		return nil
	}
	if p.Existing() {
		s.a.Tally.Add("existing", 1)
	}
	s.a.RecordLog.Acked(p.ID())
	s.a.Tally.Add("submitted", 1)
	return p
}

// follow cancels a task, or waits for its end.
func (s *taskStorm) follow(ctx context.Context, p *assign.Pending[string], w wish) {
	if w.cancelAfter > 0 {
		time.Sleep(w.cancelAfter)
		s.cancelled(p)
		return
	}
	switch output, err := p.Wait(ctx); {
	case err == nil:
		s.a.RecordLog.Promises(p.ID(), output)
	case errors.Is(err, assign.ErrTaskDead) && w.requeue && !p.Existing():
		s.requeued(p.ID())
	}
}

func (s *taskStorm) cancelled(p *assign.Pending[string]) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*s.a.TTL)
	defer cancel()
	switch err := p.Cancel(ctx); {
	case err == nil:
		s.a.Tally.Add("cancelled", 1)
		s.a.RecordLog.Promises(p.ID(), "cancelled")
	case errors.Is(err, assign.ErrCancelPending):
		s.a.Tally.Add("cancel pending", 1)
	case errors.Is(err, assign.ErrTaskEnded):
		s.a.Tally.Add("cancelled too late", 1)
	}
}

func (s *taskStorm) requeued(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*s.a.TTL)
	defer cancel()
	s.a.RecordLog.Requeues(id)
	if err := assign.Requeue(ctx, s.from, id); err == nil {
		s.a.Tally.Add("requeued", 1)
	}
}
