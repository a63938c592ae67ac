package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAHandlerThatHeedsItsDeadline, whatever it returns then, and though it has one attempt only:
// its task has expired. In real time, where either the worker or the scheduler may notice it first.
func TestAHandlerThatHeedsItsDeadline(t *testing.T) {
	t.Parallel() // it waits most of the time
	returns := []func(cause error) error{
		func(cause error) error { return cause },
		func(error) error { return nil },
		func(error) error { return assign.Permanent(errors.New("too late")) },
		func(error) error { return assign.Snooze(time.Hour) },
	}
	kind := assign.NewKind[int, string]("overdue", assign.MaxAttempts(1))
	s := natstest.Server(t)
	a := newNode(t, s, "a", nil)
	leader(t, a)
	newNode(t, s, "w", func(a *assign.Assigner) {
		if err := assign.Handle(a, kind, func(ctx context.Context, task *assign.Task[int]) (string, error) {
			<-ctx.Done()
			return "too late", returns[task.Input%len(returns)](context.Cause(ctx))
		}); err != nil {
			t.Error(err)
		}
	}, workerOnly)
	c := New(t, s)
	var all []*assign.Pending[string]
	for i := range 10 * len(returns) {
		p, err := assign.Submit(t.Context(), c, kind, i, assign.WithDeadline(time.Duration(300+7*i)*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	ran := 0
	for i, p := range all {
		if out, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskExpired) {
			t.Errorf("task %d, which returns %v: %q, %v", i, returns[i%len(returns)](fmt.Errorf("the cause")), out, err)
		}
		st, err := p.Status(t.Context())
		if err != nil || st.State != assign.StateExpired {
			t.Errorf("task %d: %+v, %v", i, st, err)
		}
		if st.Attempts > 0 {
			if ran++; st.Worker != "w" || st.Ran <= 0 {
				t.Errorf("task %d ran, and who ran it, for how long, is not said: %+v", i, st)
			}
		}
	}
	if ran == 0 {
		t.Error("none of them has run")
	}
}
