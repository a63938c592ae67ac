package assign_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var brittle = assign.NewKind[string, string]("brittle", assign.MaxAttempts(2),
	assign.Backoff(10*time.Millisecond, time.Second))

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// breaking has a handler that fails until it is fixed.
func breaking(t *testing.T, fixed *atomic.Bool) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, brittle, func(_ context.Context, task *assign.Task[string]) (string, error) {
			if !fixed.Load() {
				return "", errors.New("broken")
			}
			return task.Input + " done, " + task.TraceParent(), nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// dies submits a task that ends dead.
func dies(t *testing.T, c assign.Submitter, opts ...assign.SubmitOption) string {
	t.Helper()
	p, err := assign.Submit(t.Context(), c, brittle, "in", append(opts, assign.WithTraceParent(trace))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
		t.Fatalf("%v, want dead", err)
	}
	return p.ID()
}

func TestRequeue(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		var fixed atomic.Bool
		n := newNode(t, s, "a", breaking(t, &fixed))
		c := New(t, s)
		id := dies(t, c, assign.WithUnique("k"), assign.WithHeader("h", "v"), assign.WithPriority(7))
		if err := assign.Requeue(t.Context(), c, id); err != nil {
			t.Fatal(err)
		}
		st, err := assign.Get(t.Context(), c, id)
		if err != nil || st.Kind != "brittle" || st.Priority != 7 || st.Headers["h"] != "v" || st.Keys == nil ||
			st.TraceParent != trace {
			t.Errorf("%+v, %v", st, err)
		}
		p, err := assign.Submit(t.Context(), c, brittle, "in", assign.WithUnique("k"))
		if err != nil || p.ID() != id {
			t.Errorf("the key of the requeued task: %v, %v; want %s", p, err, id)
		}
		// It has all its attempts again: it is dead again, and only then fixed.
		if _, err := assign.Find(c, brittle, id).Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatalf("%v\n%s", err, n.dump())
		}
		if st, err := assign.Get(t.Context(), c, id); err != nil || st.Attempts != 2 {
			t.Errorf("%+v, %v", st, err)
		}
		fixed.Store(true)
		if err := assign.Requeue(t.Context(), c, id); err != nil {
			t.Fatal(err)
		}
		if out, err := assign.Find(c, brittle, id).Wait(t.Context()); out != "in done, "+trace || err != nil {
			t.Errorf("%q, %v\n%s", out, err, n.dump())
		}
		if err := assign.Requeue(t.Context(), c, id); !errors.Is(err, assign.ErrNotDead) {
			t.Errorf("one that has succeeded: %v", err)
		}
		if err := assign.Requeue(t.Context(), c, "never"); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("one that never was: %v", err)
		}
	})
}

func TestRequeueNeedsTheUniqueKey(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		var fixed atomic.Bool
		n := newNode(t, s, "a", breaking(t, &fixed))
		c := New(t, s)
		id := dies(t, c, assign.WithUnique("k"))
		n.close(t)
		other, err := assign.Submit(t.Context(), c, brittle, "in", assign.WithUnique("k"))
		if err != nil || other.ID() == id {
			t.Fatalf("%v, %v", other, err)
		}
		if err := assign.Requeue(t.Context(), c, id); !errors.Is(err, assign.ErrKeyTaken) {
			t.Errorf("another task has the key: %v", err)
		}
		if err := assign.Requeue(t.Context(), c, other.ID()); !errors.Is(err, assign.ErrNotDead) {
			t.Errorf("an open task: %v", err)
		}
	})
}

func TestRequeueWhoseAnswerIsLostIsOne(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		var fixed atomic.Bool
		newNode(t, s, "a", breaking(t, &fixed))
		c, link := lossyClient(t, s)
		id := dies(t, c)
		nc := natstest.Connect(t, s)
		natstest.Republish(t, nc, "TASKS_"+testNS, stored+"q.>", "kept.>")
		sub, err := nc.SubscribeSync("kept." + id)
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		loseWrite(t, link, func() error { return assign.Requeue(t.Context(), c, id) })
		if _, err := assign.Find(c, brittle, id).Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // virtual: for whatever comes late
		if n, _, err := sub.Pending(); n != 2 || err != nil {
			t.Errorf("%d records followed the first outcome, want a submission and an outcome (%v)", n, err)
		}
	})
}
