package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

type (
	orderBefore struct{ Count int }
	orderNow    struct{ Count string } // the same field, of another type
)

// TestRollingDeploy: while workers of two versions are there, and the input of a kind has changed,
// each task ends well at a worker that can decode it, and none counts a failure. A task that nobody
// can decode waits for a worker that can.
func TestRollingDeploy(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		before := assign.NewKind[orderBefore, string]("order")
		now := assign.NewKind[orderNow, string]("order", assign.MaxAttempts(50))
		handle := func(register func(*assign.Assigner) error) func(*assign.Assigner) {
			return func(a *assign.Assigner) {
				if err := register(a); err != nil {
					t.Error(err)
				}
			}
		}
		old := handle(func(a *assign.Assigner) error {
			return assign.Handle(a, before, func(_ context.Context, task *assign.Task[orderBefore]) (string, error) {
				return fmt.Sprint("before ", task.Attempt()), nil
			})
		})
		fresh := handle(func(a *assign.Assigner) error {
			return assign.Handle(a, now, func(_ context.Context, task *assign.Task[orderNow]) (string, error) {
				return fmt.Sprint("now ", task.Attempt()), nil
			})
		})
		var all []*node
		for i := range 3 {
			all = append(all, newNode(t, s, fmt.Sprint("old", i), old))
		}
		leader(t, all...)
		c := New(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		early, err := assign.Submit(ctx, c, now, orderNow{"early"})
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "it waits for another build", time.Minute, func() (bool, string) {
			g, err := assign.Get(ctx, c, early.ID())
			waits := err == nil && g.State == assign.StatePending && g.Reason == assign.ReasonUndecodable
			return waits, fmt.Sprintf("%+v %v", g, err)
		})
		all = append(all, newNode(t, s, "new", fresh))
		if out, err := early.Wait(ctx); out == "" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		for i := range 200 {
			var out string
			var err error
			if i%2 == 0 {
				p, submitted := assign.Submit(ctx, c, now, orderNow{"3"})
				if submitted != nil {
					t.Fatal(submitted)
				}
				out, err = p.Wait(ctx)
			} else {
				p, submitted := assign.Submit(ctx, c, before, orderBefore{3})
				if submitted != nil {
					t.Fatal(submitted)
				}
				out, err = p.Wait(ctx)
			}
			if want := []string{"now 1", "before 1"}[i%2]; err != nil || out != want {
				t.Fatalf("task %d: %q, %v; want %q", i, out, err, want)
			}
		}
		rejected := 0
		for _, n := range all {
			rejected += n.count(func(e event.Event) bool {
				r, is := e.(event.TaskRejected)
				return is && r.Reason == "undecodable"
			})
		}
		if rejected == 0 {
			t.Error("nothing was rejected: the run proves nothing")
		}
	})
}

// TestNobodyDecodes: a task that no worker can decode is dead after MaxAttempts, with a cause of
// its own, and later than after its backoffs alone.
func TestNobodyDecodes(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		before := assign.NewKind[orderBefore, string]("order")
		now := assign.NewKind[orderNow, string]("order", assign.MaxAttempts(3), assign.Backoff(time.Second, time.Second))
		n := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, before, func(context.Context, *assign.Task[orderBefore]) (string, error) {
				return "", nil
			}); err != nil {
				t.Error(err)
			}
		})
		leader(t, n)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		p, err := assign.Submit(ctx, New(t, s), now, orderNow{"3"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Wait(ctx)
		var failed *assign.TaskError
		if !errors.As(err, &failed) || failed.Cause != "undecodable" || failed.Attempts != 3 {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took < 2*time.Minute {
			t.Errorf("dead after %v: another build had no time to come", took)
		}
	})
}
