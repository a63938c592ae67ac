package assign_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestClientOnThreeReplicas: everything that a client writes, under the conditions that a
// replicated stream checks before it proposes.
func TestClientOnThreeReplicas(t *testing.T) {
	thorough.Only(t, "it waits for servers")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	var fixed atomic.Bool
	b := newBench()
	ran := newTally()
	n := newNode(t, s, "a", func(a *assign.Assigner) {
		breaking(t, &fixed)(a)
		b.register(t, "a")(a)
		doubling(t, "a", ran)(a)
	}, replicated)
	leader(t, n)
	c := New(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, n.dump())
		}
	}

	must(assign.PauseKind(ctx, c, "slow", ""))
	all := submitSlow(t, c, 2)
	must(all[0].Cancel(ctx))
	if b.startedTotal() != 0 {
		t.Error("a task of a paused kind has started")
	}
	must(assign.ResumeKind(ctx, c, "slow"))
	b.allStarted(t, 1)
	must(all[1].Cancel(ctx))
	if _, err := all[1].Wait(ctx); !errors.Is(err, assign.ErrTaskCancelled) {
		t.Errorf("%v", err)
	}

	id := dies(t, c, assign.WithUnique("k"))
	fixed.Store(true)
	must(assign.Requeue(ctx, c, id))
	_, err := assign.Find(c, brittle, id).Wait(ctx)
	must(err)

	must(assign.Recur(ctx, c, double, "often", "@every 1s", 1))
	natstest.Eventually(t, "two ticks", 30*time.Second, func() (bool, string) {
		page, err := assign.List(ctx, c,
			assign.ListOptions{Prefix: "cron/often/", States: []assign.State{assign.StateSucceeded}})
		if err != nil {
			return false, err.Error()
		}
		return len(page.Tasks) >= 2, ""
	})
	must(assign.RemoveRecurrence(ctx, c, "often"))
	if ran.max() != 1 {
		t.Errorf("a tick ran %d times", ran.max())
	}
	must(assign.DrainWorker(ctx, c, "a", ""))
	must(assign.UndrainWorker(ctx, c, "a"))
}
