package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
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

// TestTheCauseSaysWhyAHandlerIsStopped: that its task was cancelled, or has expired, also when another scheduler has to say it
// than the one that has ended it.
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
					p, err := assign.Submit(t.Context(), newClient(t, s), slow, "in", c.submit)
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
