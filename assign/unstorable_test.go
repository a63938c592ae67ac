package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// bloated returns as many bytes as its input says; with save it leaves a checkpoint of that size
// first.
func bloated(t *testing.T, k assign.Kind[int, string], save bool) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, k, func(ctx context.Context, task *assign.Task[int]) (string, error) {
			if save {
				if err := task.Progress(ctx, 0.5, make([]byte, task.Input)); err != nil {
					return "not saved: " + err.Error(), nil
				}
			}
			return strings.Repeat("x", task.Input), nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// limit changes the stream of the tests.
func limit(t *testing.T, s dialer, change func(*jetstream.StreamConfig)) {
	t.Helper()
	edit(t, s, "TASKS_"+testNS, change)
}

// edit changes a stream.
func edit(t *testing.T, s dialer, stream string, change func(*jetstream.StreamConfig)) {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	st, err := js.Stream(ctx, stream)
	if err != nil {
		t.Fatal(err)
	}
	cfg := st.CachedInfo().Config
	change(&cfg)
	if _, err := js.UpdateStream(ctx, cfg); err != nil {
		t.Fatal(err)
	}
}

// faultsOf are the faults with an error that a node is told of, when all have come that this
// moment brings.
func faultsOf(n *node, target error) (all []event.Fault) {
	natstest.Settle(n.t)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.events {
		if f, ok := e.(event.Fault); ok && errors.Is(f.Err, target) {
			all = append(all, f)
		}
	}
	return all
}

// unstorable has a few outcomes that the server does not take among many that it does.
func unstorable(t *testing.T, s dialer, a *node, c *assign.Client, k assign.Kind[int, string]) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if p, err := assign.Submit(ctx, c, k, 1); err != nil {
		t.Fatal(err)
	} else if _, err := p.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxMsgSize = 4096 })
	const n = 60
	sizes := make([]int, n)
	for i := range sizes {
		if i%20 == 7 {
			sizes[i] = 8000
		}
	}
	all, err := assign.SubmitBatch(ctx, c, k, sizes, assign.WithEach(func(i int) []assign.SubmitOption {
		return []assign.SubmitOption{assign.WithID(fmt.Sprint("sized-", i))}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range all {
		_, err := p.Wait(ctx)
		var failed *assign.TaskError
		switch {
		case sizes[i] == 0 && err != nil:
			t.Errorf("%d: %v", i, err)
		case sizes[i] > 0 && !errors.As(err, &failed):
			t.Errorf("%d: %v, want a failure", i, err)
		case sizes[i] > 0 &&
			(failed.Status != assign.StateDead || failed.Cause != "unstorable" ||
				!strings.Contains(failed.Message, "maximum allowed")):
			t.Errorf("%d: %+v", i, failed)
		}
	}
	dead := func() int {
		return a.count(func(e event.Event) bool {
			d, ok := e.(event.TaskCompleted)
			return ok && d.Outcome == "dead"
		})
	}
	// events come after what they tell of
	natstest.Eventually(t, "the dead are counted", time.Minute, func() (bool, string) {
		return dead() >= n/20, fmt.Sprint(dead())
	})
	faults := faultsOf(a, assign.ErrUnstorable)
	if len(faults) != n/20 {
		t.Errorf("%d faults: %v", len(faults), faults)
	}
	for _, f := range faults {
		if !strings.Contains(f.Doing, "sized-") || !strings.Contains(f.Err.Error(), "maximum allowed") {
			t.Errorf("a fault that names no task or no cause: %+v", f)
		}
	}
	before := lastSeq(t, s)
	time.Sleep(3 * time.Second) // virtual, or as long as a loop would take to show
	if after := lastSeq(t, s); after > before+5 {
		t.Errorf("%d records were written after all had ended", after-before)
	}
	if dead() != n/20 {
		t.Errorf("%d tasks are counted as dead", dead())
	}
	limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxMsgSize = -1 })
	if m := record(t, a.nc, "q.sized-7"); m == nil || string(m.Data) != "8000" {
		t.Errorf("the dead task keeps %+v", m)
	}
	if err := assign.Requeue(ctx, c, "sized-7"); err != nil {
		t.Fatal(err)
	}
	if out, err := all[7].Wait(ctx); err != nil || len(out) != 8000 {
		t.Errorf("afterwards: %d bytes, %v", len(out), err)
	}
}

// lastSeq is how much was written to the stream.
func lastSeq(t *testing.T, s dialer) uint64 {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	st, err := js.Stream(ctx, "TASKS_"+testNS)
	if err != nil {
		t.Fatal(err)
	}
	return st.CachedInfo().State.LastSeq
}

// TestAnOutcomeThatIsNeverStoredHoldsNobodyUp: its task ends as dead, everything else as always.
func TestAnOutcomeThatIsNeverStoredHoldsNobodyUp(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[int, string]("sized")
		a := newNode(t, s, "a", bloated(t, k, false))
		leader(t, a)
		unstorable(t, s, a, New(t, s), k)
	})
}

// TestAnOutcomeThatIsNeverStoredOnReplicas is refused together with all that are in its batch.
func TestAnOutcomeThatIsNeverStoredOnReplicas(t *testing.T) {
	thorough.Only(t, "it waits for servers")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	k := assign.NewKind[int, string]("sized")
	a := newNode(t, s, "a", bloated(t, k, false), replicated, slots(64))
	leader(t, a)
	unstorable(t, s, a, New(t, s), k)
}

// TestADeadTaskWhoseInputIsTooLarge ends as what it is, with its own error, and without its input.
func TestADeadTaskWhoseInputIsTooLarge(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[[]byte, []byte]("dying")
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, k, make([]byte, 8000), assign.WithID("dying"))
		if err != nil {
			t.Fatal(err)
		}
		a := newNode(t, s, "a", nil)
		leader(t, a)
		limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxMsgSize = 4096 })
		newNode(t, s, "w", func(a *assign.Assigner) {
			if err := assign.Handle(a, k, func(context.Context, *assign.Task[[]byte]) ([]byte, error) {
				return nil, assign.Permanent(errors.New("no use"))
			}); err != nil {
				t.Error(err)
			}
		}, workerOnly)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_, err = p.Wait(ctx)
		var failed *assign.TaskError
		if !errors.As(err, &failed) || failed.Cause != "permanent" || failed.Message != "no use" {
			t.Errorf("%v", err)
		}
		if m := record(t, a.nc, "q.dying"); m == nil || len(m.Data) != 0 {
			t.Errorf("it keeps %+v", m)
		}
		if err := assign.Requeue(ctx, c, "dying"); !errors.Is(err, assign.ErrNotDead) {
			t.Errorf("requeue: %v", err)
		}
		if f := faultsOf(a, assign.ErrUnstorable); len(f) != 0 {
			t.Errorf("%+v", f)
		}
	})
}

// TestACheckpointThatIsNeverStored: the handler that reports it gets an error, and the task
// continues.
func TestACheckpointThatIsNeverStored(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		k := assign.NewKind[int, string]("sized")
		a := newNode(t, s, "a", bloated(t, k, true))
		leader(t, a)
		c := New(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		for i, size := range []int{5000, 5000, 100} {
			if i == 1 {
				limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxMsgSize = 2048 })
			}
			p, err := assign.Submit(ctx, c, k, size)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Wait(ctx)
			if refused := strings.HasPrefix(out, "not saved"); err != nil || refused != (i == 1) {
				t.Errorf("%d: %.40q, %v", i, out, err)
			}
		}
		if f := faultsOf(a, assign.ErrUnstorable); len(f) != 1 || !strings.Contains(f[0].Doing, "checkpoint") {
			t.Errorf("%+v", f)
		}
	})
}
