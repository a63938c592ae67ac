package live_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// TestTasksFailoverAdoptsAThousand: a scheduler is lost while a thousand tasks run. Its successor
// adopts each of them: none is run a second time, and each outcome is that of the attempt that its
// predecessor has handed out.
func TestTasksFailoverAdoptsAThousand(t *testing.T) {
	crowded(t)
	const running, workers = 1000, 5
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := tasks.New(t, s, tasks.Config{Name: "many", TTL: 2 * time.Second, Storage: jetstream.MemoryStorage})
		defer a.Close()
		first := a.Join(tasks.Plan{Name: "a", Idle: true})
		natstest.Eventually(t, "a leads", time.Minute, func() (bool, string) { return first.Election.IsLeader(), a.Lately() })
		a.Join(tasks.Plan{Name: "b", Idle: true})
		for i := range workers {
			a.Join(tasks.Plan{Name: fmt.Sprint("w", i), Worker: true, Slots: running / workers})
		}
		var submitting sync.WaitGroup
		for from := range 8 {
			submitting.Go(func() {
				for i := from; i < running; i += 8 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					p, err := assign.Submit(ctx, a.Client, tasks.Plain, tasks.Order{Run: 30 * time.Second},
						assign.WithID(fmt.Sprint("t", i)))
					cancel()
					if err != nil {
						t.Error(err)
						return
					}
					a.RecordLog.Acked(p.ID())
				}
			})
		}
		submitting.Wait()
		natstest.Eventually(t, "all run", 20*time.Second, func() (bool, string) {
			n := len(a.Ledger.Runs())
			return n == running, fmt.Sprint(n)
		})
		first.Crash()
		natstest.Eventually(t, "all are adopted", 20*time.Second, func() (bool, string) {
			n := a.Tally.Count("adopted")
			return n == running, fmt.Sprintf("%d%s", n, a.Lately())
		})
		a.Settled(time.Minute)
		a.Check()
		epochs := map[uint64]bool{}
		for _, r := range a.Ledger.Runs() {
			epochs[r.Epoch] = true
		}
		if n := len(a.Ledger.Runs()); n != running || a.Tally.Count("TaskReassigned") > 0 ||
			a.Tally.Count("stored/succeeded") != running || len(epochs) != 1 {
			t.Errorf("%d attempts under %d epochs, %d successes: want %d, each of the first scheduler: %v", n, len(epochs),
				a.Tally.Count("stored/succeeded"), running, a.Tally)
		}
	})
}
