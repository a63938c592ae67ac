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

// TestAnArenaWaitsForStubbornHandlers: a handler that continues after its session has ended is not
// left behind in the bubble, where no time would pass for it.
func TestAnArenaWaitsForStubbornHandlers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := tasks.New(t, s, tasks.Config{Name: "stubborn", TTL: 2 * time.Second, Storage: jetstream.MemoryStorage})
		a.Join(tasks.Plan{Name: "a"})
		if _, err := assign.Submit(t.Context(), a.Client, tasks.Plain,
			tasks.Order{Run: time.Hour, Stubborn: time.Minute}); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "it runs", time.Minute, func() (bool, string) {
			return len(a.Ledger.Runs()) == 1, a.Lately()
		})
		a.Close()
		if r := a.Ledger.Runs()[0]; r.To.IsZero() {
			t.Errorf("the arena is closed, and a handler has not returned: %v", &r)
		}
	})
}
