package assign_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// handles registers one kind whose handler is given.
func handles(t *testing.T, k assign.Kind[int, int],
	h func(ctx context.Context, t *assign.Task[int]) (int, error),
) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, k, h); err != nil {
			t.Error(err)
		}
	}
}

// TestStuckHandlers: a handler that continues for long after its context has ended is reported
// once, with why the context ended. One that returns in time is not.
func TestStuckHandlers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const patience = 3 * time.Second
		gate := make(chan struct{})
		deaf := assign.NewKind[int, int]("deaf.v1", assign.Timeout(time.Second))
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", handles(t, deaf, func(ctx context.Context, task *assign.Task[int]) (int, error) {
			switch task.Input {
			case 0:
				<-ctx.Done()
				time.Sleep(patience - time.Millisecond)
			default:
				<-gate
			}
			return 0, ctx.Err()
		}), workerOnly, drainTimeout(patience))
		c := New(t, s)
		stuck := func(id string, cause error) func(event.Event) bool {
			return func(e event.Event) bool {
				x, is := e.(event.TaskStuck)
				return is && x.ID == id && errors.Is(x.Cause, cause) && x.Kind == "deaf.v1" && x.Namespace == testNS &&
					x.Since == patience && x.Instance == "w"
			}
		}
		for i, id := range []string{"in-time", "over-time", "cancelled"} {
			p, err := assign.Submit(t.Context(), c, deaf, i, assign.WithID(id))
			if err != nil {
				t.Fatal(err)
			}
			if id == "cancelled" {
				time.Sleep(500 * time.Millisecond)
				if err := p.Cancel(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(3 * patience)
		for _, x := range []struct {
			id    string
			cause error
		}{{"over-time", assign.ErrTimeout}, {"cancelled", assign.ErrTaskCancelled}} {
			if n := w.count(stuck(x.id, x.cause)); n != 1 {
				t.Errorf("%s is reported %d times\n%s", x.id, n, w.dump())
			}
		}
		if n := w.count(func(e event.Event) bool { _, is := e.(event.TaskStuck); return is }); n != 2 {
			t.Errorf("%d are reported, want 2\n%s", n, w.dump())
		}
		close(gate)
	})
}

// TestPanicsOfHandlers: the first panic of a minute is an event, with its stack.
func TestPanicsOfHandlers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		k := assign.NewKind[int, int]("panics.v1", assign.MaxAttempts(1))
		a := newNode(t, s, "a", nil)
		leader(t, a)
		panics := func(context.Context, *assign.Task[int]) (int, error) { panic("at the disco") }
		w := newNode(t, s, "w", handles(t, k, panics), workerOnly)
		c := New(t, s)
		fail := func() {
			t.Helper()
			p, err := assign.Submit(t.Context(), c, k, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); err == nil {
				t.Fatal("a task whose handler panics has succeeded")
			}
		}
		for range 3 {
			fail()
		}
		panicked := func(e event.Event) bool {
			x, is := e.(event.CallbackPanicked)
			return is && x.Callback == "handler of panics.v1" && x.Value == "at the disco" &&
				strings.Contains(string(x.Stack), "stuck_test.go")
		}
		if n := w.count(panicked); n != 1 {
			t.Errorf("%d of three panics at once are reported, want 1\n%s", n, w.dump())
		}
		time.Sleep(time.Minute)
		fail()
		if n := w.count(panicked); n != 2 {
			t.Errorf("%d panics are reported a minute later, want 2", n)
		}
	})
}
