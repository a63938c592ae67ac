package live_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// TestTasksWorkerLostWhileItCloses: a worker closes its session, and is cut off while what it runs
// may still finish. Its handlers end when its session does, and not with the time that the closing
// leaves them: the task runs elsewhere by then.
func TestTasksWorkerLostWhileItCloses(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := tasks.New(t, s, tasks.Config{Name: "closing", TTL: 2 * time.Second, Storage: jetstream.MemoryStorage})
		defer a.Close()
		a.Join(tasks.Plan{Name: "a", Idle: true})
		w := a.Join(tasks.Plan{Name: "w", Worker: true, Drain: 10 * time.Second})
		if _, err := assign.Submit(t.Context(), a.Client, tasks.Plain, tasks.Order{Run: 20 * time.Second},
			assign.WithID("t")); err != nil {
			t.Fatal(err)
		}
		a.RecordLog.Acked("t")
		started := func(n int) func() (bool, string) {
			return func() (bool, string) { return len(a.Ledger.Runs()) == n, a.History("t") + a.Lately() }
		}
		natstest.Eventually(t, "it runs", time.Minute, started(1))
		a.Join(tasks.Plan{Name: "v", Worker: true})
		w.Leave()
		time.Sleep(500 * time.Millisecond) // within the lease
		w.Crash()
		natstest.Eventually(t, "it runs again", time.Minute, started(2))
		a.Settled(time.Minute)
		a.Check()
	})
}
