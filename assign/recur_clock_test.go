package assign_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestATickOfAWrongClock: the last tick was submitted years ahead, by a machine whose clock was
// wrong. The recurrence continues all the same, and somebody is told.
func TestATickOfAWrongClock(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("sweep")
		c := New(t, s)
		if err := assign.Recur(t.Context(), c, k, "often", "@every 1s", 0); err != nil {
			t.Fatal(err)
		}
		nc, err := s.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := nc.Request(stored+"k.often", []byte(`{"v":1,"tick":"2031-01-01T00:00:00Z"}`), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		a := newNode(t, s, "a", r.handle(t, "a", k))
		leader(t, a)
		natstest.Eventually(t, "it ticks", time.Minute, func() (bool, string) {
			return len(r.ticksOf("often")) >= 4, a.dump()
		})
		everyTick(t, r.ticksOf("often"), time.Second, 4)
		if n := a.count(func(e event.Event) bool {
			f, ok := e.(event.Fault)
			return ok && strings.Contains(f.Doing, "often") && strings.Contains(f.Err.Error(), "2031-01-01")
		}); n != 1 {
			t.Errorf("told %d times, want once\n%s", n, a.dump())
		}
		if all := recurrences(t, c); len(all) != 1 || all[0].Last.Year() > 2030 {
			t.Error(all)
		}
	})
}
