package assign_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestSchedulerLostAmongBundles: the scheduler is lost while tasks are stored in bundles, and run.
// Each task runs once, and ends, and nothing is left of the bundles.
func TestSchedulerLostAmongBundles(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) { loseAmongBundles(t, s) })
}

// TestSchedulerLostAmongBundlesOnThreeReplicas: the same on a replicated stream.
func TestSchedulerLostAmongBundlesOnThreeReplicas(t *testing.T) {
	thorough.Only(t, "it waits for servers")
	t.Parallel() // it waits for servers most of the time
	loseAmongBundles(t, natstest.Tenant(t), replicated)
}

func loseAmongBundles(t *testing.T, s dialer, opts ...nodeOption) {
	const tasks = 4000
	ran := newTally()
	a := newNode(t, syncing(s), "a", nil, append(opts, handsOut)...)
	leader(t, a)
	b := newNode(t, syncing(s), "b", nil, append(opts, handsOut)...)
	newNode(t, s, "w", doubling(t, "w", ran), append(opts, workerOnly, slots(256))...)
	c, ends, nc := New(t, syncing(s)), recordEnds(t, s), natstest.Connect(t, s)
	var stood, beside atomic.Int64
	for filter, n := range map[string]*atomic.Int64{"kept.b.>": &stood, "kept.e.>": &beside} {
		if _, err := nc.Subscribe(filter, func(m *nats.Msg) {
			if len(m.Data) > 0 {
				n.Add(1)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var ids []string
	var errs []error
	var all sync.WaitGroup
	all.Go(func() {
		for len(errs) == 0 && (len(ids) == 0 || stood.Load() < 2) { // on a busy machine they may go alone for a while
			more, failed := manySubmit(ctx, c, tasks, unnamed)
			ids, errs = append(ids, more...), append(errs, failed...)
		}
	})
	natstest.Eventually(t, "bundles are stored", time.Minute, func() (bool, string) {
		return stood.Load() >= 2, fmt.Sprintf("%d, and %d records beside them", stood.Load(), beside.Load())
	})
	a.link.Cut() // what is under way is lost
	a.nc.Close()
	leader(t, b)
	all.Wait()
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	for _, id := range ids {
		if _, err := assign.Find(c, double, id).Wait(ctx); err != nil {
			t.Fatalf("%s: %v\n%s", id, err, b.dump())
		}
	}
	ends.check(t, len(ids))
	if of := ran.tasks(); len(of) != len(ids) || ran.max() != 1 {
		t.Errorf("%d tasks ran, one of them %d times", len(of), ran.max())
	}
	natstest.Eventually(t, "nothing is left of bundles", time.Minute, func() (bool, string) {
		left := slices.DeleteFunc(append(records(t, nc, "b.>"), records(t, nc, "e.>")...), func(key string) bool {
			m := record(t, nc, key) // nil: it has gone meanwhile
			return m == nil || len(m.Data) == 0
		})
		return len(left) == 0, fmt.Sprint(left)
	})
	t.Logf("%d bundles, %d records beside them", stood.Load(), beside.Load())
}
