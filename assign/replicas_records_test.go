package assign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestRecordsOnThreeReplicas: all records that a scheduler writes in addition to outcomes and
// notes, in batches and beside them: ticks, checkpoints, the inputs of dead tasks, the records that
// it erases, and the keys that it frees.
func TestRecordsOnThreeReplicas(t *testing.T) {
	thorough.Only(t, "it waits for servers and ticks")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	r := newRoll()
	sweep := assign.NewKind[time.Duration, string]("sweep")
	steps := assign.NewKind[int, string]("steps", assign.Backoff(10*time.Millisecond, 10*time.Millisecond))
	a := newNode(t, s, "a", func(a *assign.Assigner) {
		r.handle(t, "a", sweep)(a)
		saying(t, a, nil)
		if err := assign.Handle(a, steps, func(ctx context.Context, task *assign.Task[int]) (string, error) {
			if task.Attempt() == 1 {
				if err := task.Progress(ctx, 0.5, fmt.Append(nil, "half of ", task.Input)); err != nil {
					return "", err
				}
				return "", errors.New("once more")
			}
			return string(task.Checkpoint()), nil
		}); err != nil {
			t.Error(err)
		}
	}, replicated)
	leader(t, a)
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true, Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	for _, name := range []string{"one", "two"} {
		if err := assign.Recur(ctx, c, sweep, name, "@every 1s", 0, assign.CatchUp(assign.CatchUpAll)); err != nil {
			t.Fatal(err)
		}
	}
	halves := make([]*assign.Pending[string], 50)
	for i := range halves {
		if halves[i], err = assign.Submit(ctx, c, steps, i, assign.WithUnique(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	dead, err := assign.Submit(ctx, c, say, "permanent", assign.WithID("dead"))
	if err != nil {
		t.Fatal(err)
	}
	hung, err := assign.Submit(ctx, c, say, "hang", assign.WithID("hung"))
	if err != nil {
		t.Fatal(err)
	}
	if err := hung.Cancel(ctx); err != nil {
		t.Errorf("cancel: %v", err)
	}
	for i, p := range halves {
		if out, err := p.Wait(ctx); err != nil || out != fmt.Sprint("half of ", i) {
			t.Errorf("task %d: %q, %v", i, out, err)
		}
	}
	if _, err := dead.Wait(ctx); !errors.Is(err, assign.ErrTaskDead) {
		t.Errorf("dead: %v", err)
	}
	if m := record(t, nc, "q.dead"); string(m.Data) != `"permanent"` || m.Header.Get("Task") == "" {
		t.Errorf("a dead task keeps %q, %v", m.Data, m.Header)
	}
	again, err := assign.Submit(ctx, c, steps, 100, assign.WithUnique("7"))
	if err != nil || again.Existing() {
		t.Errorf("the key of a task that has ended is taken: %v", err)
	} else if _, err := again.Wait(ctx); err != nil {
		t.Error(err)
	}
	natstest.Eventually(t, "six ticks each, none missing and none twice", time.Minute, func() (bool, string) {
		one, two := r.ticksOf("one"), r.ticksOf("two")
		whole := func(all []time.Time) bool { return len(all) >= 6 && all[5].Sub(all[0]) == 5*time.Second }
		return whole(one) && whole(two), fmt.Sprint(one, two)
	})
	natstest.Eventually(t, "what says nothing any more is erased", 30*time.Second, func() (bool, string) {
		left := slices.DeleteFunc(records(t, nc, "*.>"), func(key string) bool {
			m := record(t, nc, key) // nil: it has gone meanwhile
			return key[0] != 't' && key[0] != 'c' && key[0] != 'x' && key[0] != 'u' || m == nil || len(m.Data) == 0
		})
		return len(left) == 0, fmt.Sprint(left)
	})
	if t.Failed() {
		t.Log(a.dump())
	}
}

// TestATickWhosePlaceIsTakenOnThreeReplicas: what stands in its place stays, and runs as it is; the
// ticks behind it come, in the same term.
func TestATickWhosePlaceIsTakenOnThreeReplicas(t *testing.T) {
	thorough.Only(t, "it waits for servers and ticks")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	r := newRoll()
	sweep := assign.NewKind[time.Duration, string]("sweep")
	var squatted atomic.Int64 // runs with the squatter's input
	a := newNode(t, s, "a", func(a *assign.Assigner) {
		if err := assign.Handle(a, sweep, func(_ context.Context, task *assign.Task[time.Duration]) (string, error) {
			if task.Input == squatter {
				squatted.Add(1)
			}
			return "", r.run(t.Context(), "a", task)
		}); err != nil {
			t.Error(err)
		}
	}, replicated)
	leader(t, a)
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true, Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := assign.Recur(ctx, c, sweep, "often", "@every 1s", 0, assign.CatchUp(assign.CatchUpAll)); err != nil {
		t.Fatal(err)
	}
	model, err := assign.Submit(ctx, c, sweep, squatter, assign.WithID("model"), assign.WithDelay(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	// A submission like it, but at once, in the place of a tick that is to come. One that comes too
	// late is refused, and the next tries a later tick.
	m := record(t, nc, "q."+model.ID())
	header := nats.Header{
		"Task":                                {strings.Replace(m.Header.Get("Task"), `"delay_ms":3600000,`, "", 1)},
		"Nats-Expected-Last-Subject-Sequence": {"0"},
	}
	var taken time.Time
	natstest.Eventually(t, "the place of a tick is taken before it comes", time.Minute, func() (bool, string) {
		often, err := assign.GetRecurrence(ctx, c, "often")
		if err != nil {
			return false, fmt.Sprint(err)
		}
		tick := often.Next.Add(3 * time.Second)
		answer, err := nc.RequestMsg(&nats.Msg{
			Subject: stored + "q.cron/often/" + tick.UTC().Format("20060102T150405Z"), Header: header, Data: m.Data,
		}, 5*time.Second)
		if err != nil || strings.Contains(string(answer.Data), "error") {
			return false, fmt.Sprint(answer, err)
		}
		taken = tick
		return true, ""
	})
	natstest.Eventually(t, "four ticks behind it", time.Minute, func() (bool, string) {
		all := r.ticksOf("often")
		return slices.ContainsFunc(all, func(tick time.Time) bool { return !tick.Before(taken.Add(4 * time.Second)) }),
			fmt.Sprint(all, a.dump())
	})
	natstest.Eventually(t, "what has taken the place has run, once, as it was", time.Minute, func() (bool, string) {
		return squatted.Load() == 1, fmt.Sprint(squatted.Load())
	})
	everyTick(t, r.ticksOf("often"), time.Second, 4)
	if n := a.count(func(e event.Event) bool { _, ok := e.(event.TaskRecovered); return ok }); n != 1 {
		t.Errorf("%d terms: the term has ended of it", n)
	}
}

// squatter is an input that no tick has.
const squatter = 77 * time.Nanosecond
