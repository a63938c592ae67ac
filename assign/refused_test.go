package assign_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAHandlerThatDoesNotReturnHoldsNobodyBack: the only worker was lost for a while. One of its
// handlers had been told to stop and runs on. The task beside it must run alone now, and waits for
// that handler. Other tasks do not wait, and it goes when the handler has returned.
func TestAHandlerThatDoesNotReturnHoldsNobodyBack(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		deaf := assign.NewKind[int, int]("deaf", assign.CrashBudget(9))
		innocent := assign.NewKind[int, int]("innocent", assign.CrashBudget(1))
		end := make(chan struct{})
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", func(a *assign.Assigner) {
			for _, err := range []error{
				assign.Handle(a, deaf, func(context.Context, *assign.Task[int]) (int, error) { <-end; return 0, nil }),
				assign.Handle(a, innocent, func(ctx context.Context, _ *assign.Task[int]) (int, error) {
					select {
					case <-ctx.Done():
						return 0, ctx.Err()
					case <-time.After(time.Hour):
						return 7, nil
					}
				}),
				assign.Handle(a, double, func(_ context.Context, task *assign.Task[int]) (int, error) {
					return 2 * task.Input, nil
				}),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		}, workerOnly, slots(8))
		c := New(t, s)
		submit := func(k assign.Kind[int, int]) *assign.Pending[int] {
			t.Helper()
			p, err := assign.Submit(t.Context(), c, k, 21)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		z, x := submit(deaf), submit(innocent)
		time.Sleep(5 * time.Second)
		if err := z.Cancel(t.Context()); err != nil { // its handler runs on
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		w.link.Cut()
		time.Sleep(2 * testTTL)
		w.link.Heal()
		time.Sleep(time.Minute)
		saysBeside(t, a.nc, "w")
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if out, err := submit(double).Wait(ctx); err != nil || out != 42 {
				t.Errorf("beside the one that must run alone: %d, %v", out, err)
			}
			cancel()
		}
		g, err := assign.Get(t.Context(), c, x.ID())
		if err != nil || g.Reason != assign.ReasonSuspect {
			t.Errorf("what must run alone is %+v, %v", g, err)
		}
		close(end)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		if out, err := x.Wait(ctx); err != nil || out != 7 {
			t.Errorf("what must run alone ends with %d, %v", out, err)
		}
	})
}

// saysBeside wants a member to say that handlers of an earlier session run there.
func saysBeside(t *testing.T, nc *nats.Conn, instance string) {
	t.Helper()
	o, err := election.Observe(t.Context(), nc, "roles", election.WithWorkers())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	natstest.Eventually(t, "it says so", time.Minute, func() (bool, string) {
		all := o.Members()
		i := slices.IndexFunc(all, func(m election.MemberInfo) bool { return m.Instance == instance })
		return i >= 0 && all[i].Assign[testNS].Beside, fmt.Sprintf("%+v", all)
	})
}
