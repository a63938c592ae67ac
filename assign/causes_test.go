package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

// cause is that of the end of the context of a handler, when there is one.
func (b *bench) cause(t *testing.T, name string) (cause error) {
	t.Helper()
	natstest.Eventually(t, "the handler of "+name+" was cancelled", 20*time.Second, func() (bool, string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		cause = b.causes[name]
		return cause != nil, ""
	})
	return cause
}

// TestTheCauseSaysWhyAHandlerIsStopped: that its task was cancelled, or has expired, also when
// another scheduler has to say it than the one that has ended it. (That a task expires its worker
// knows by itself, as a rule; what a stop frame says about it is in TestWhatAStopSays.)
func TestTheCauseSaysWhyAHandlerIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		submit assign.SubmitOption
		end    func(ctx context.Context, p *assign.Pending[string]) error
		want   error
		not    error
	}{
		"cancelled": {
			assign.WithDeadline(time.Hour), func(ctx context.Context, p *assign.Pending[string]) error { return p.Cancel(ctx) },
			assign.ErrTaskCancelled, assign.ErrTaskExpired,
		},
		"expired": {
			assign.WithDeadline(5 * time.Second), func(ctx context.Context, p *assign.Pending[string]) error {
				if _, err := p.Wait(ctx); !errors.Is(err, assign.ErrTaskExpired) {
					return fmt.Errorf("not expired: %w", err)
				}
				return nil
			},
			assign.ErrTaskExpired, assign.ErrTaskCancelled,
		},
	} {
		for _, failover := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", failover: ", failover), func(t *testing.T) {
				natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
					b := newBench()
					a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
					w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
					first, second := leader(t, a, z), z
					if first == z {
						second = a
					}
					p, err := assign.Submit(t.Context(), New(t, s), slow, "in", c.submit)
					if err != nil {
						t.Fatal(err)
					}
					b.allStarted(t, 1)
					if failover { // the worker cannot be told, and keeps its session
						time.Sleep(4800 * time.Millisecond)
						w.link.Cut()
					}
					if err := c.end(t.Context(), p); err != nil {
						t.Fatal(err)
					}
					if failover {
						first.link.Cut()
						w.link.Heal()
						leader(t, second)
					}
					if got := b.cause(t, "w"); !errors.Is(got, c.want) || errors.Is(got, c.not) || !errors.Is(got, assign.ErrStopped) {
						t.Errorf("%v, want %v\n%s", got, c.want, w.dump())
					}
					if n := b.startedTotal(); n != 1 {
						t.Errorf("started %d times", n)
					}
				})
			})
		}
	}
}

// TestAStopReachesAWorkerThatWasCutOff for far longer than an answer takes, and has kept its
// session: its slot is free again, and its handler knows why.
func TestAStopReachesAWorkerThatWasCutOff(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		patiently := func(s *election.SessionConfig, _ *assign.Config, _ *bool) { s.TTL = time.Minute }
		a := newNode(t, s, "a", nil, patiently)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly, patiently, slots(1))
		c := New(t, s)
		p := submitSlow(t, c, 1)[0]
		b.allStarted(t, 1)
		w.link.Cut()
		if err := p.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		w.link.Heal()
		healed := time.Now()
		if got := b.cause(t, "w"); !errors.Is(got, assign.ErrTaskCancelled) {
			t.Errorf("%v, want that it was cancelled", got)
		}
		if took := time.Since(healed); took > 5*time.Second {
			t.Errorf("it was told %v after it could be", took)
		}
		close(b.gate)
		next := submitSlow2(t, c)
		if _, err := next.Wait(t.Context()); err != nil ||
			w.count(func(e event.Event) bool { _, lost := e.(event.SessionLost); return lost }) > 0 {
			t.Errorf("the next task: %v\n%s", err, w.dump())
		}
	})
}

// TestWhatAStopSays: the cause of the end of a handler's context follows from the status that the
// scheduler's frame names.
func TestWhatAStopSays(t *testing.T) {
	for status, want := range map[tasks.Status]error{
		tasks.StatusCancelled: assign.ErrTaskCancelled, tasks.StatusExpired: assign.ErrTaskExpired, "": nil,
		"of a later version": nil,
	} {
		t.Run(string(status), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				b := newBench()
				a := newNode(t, s, "a", nil)
				leader(t, a)
				w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
				f := newForger(t, s, a)
				x, v := f.task("x", "slow"), f.to(w)
				natstest.Eventually(t, "it runs", 10*time.Second, func() (bool, string) {
					answers := f.push(w, f.assign(v, 0, x))
					return len(answers) == 1 && answers[0].Verdict == tasks.Accepted, w.dump()
				})
				b.allStarted(t, 1)
				told := workers.StopOrder{ID: x.ID, Attempt: x.Attempt, Serial: x.Serial, Status: status}
				f.send("cancel", w, frame.Seal(frame.EncodeStop(&v, told), f.sign))
				got := b.cause(t, "w")
				if !errors.Is(got, assign.ErrStopped) {
					t.Errorf("%v, want ErrStopped", got)
				}
				for _, which := range []error{assign.ErrTaskCancelled, assign.ErrTaskExpired} {
					if errors.Is(got, which) != (which == want) {
						t.Errorf("%v: is %v: %t", got, which, which != want)
					}
				}
			})
		})
	}
}
