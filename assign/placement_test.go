package assign_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// lastByName gives every task to the worker whose name comes last, and lets it wait while that has
// no room.
type lastByName struct{}

func (lastByName) Place(_ assign.Placed, among []assign.Candidate) int {
	for i, c := range among {
		if c.Instance == "w3" {
			return i
		}
	}
	return -1
}

func TestPlacementOfOnesOwn(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		a := newNode(t, s, "a", nil, func(_ *election.SessionConfig, a *assign.Config, _ *bool) {
			a.Placement = lastByName{}
		})
		leader(t, a)
		for _, name := range []string{"w1", "w2", "w3"} {
			newNode(t, s, name, doubling(t, name, ran), workerOnly, slots(2))
		}
		c := New(t, s)
		var all []*assign.Pending[int]
		for i := range 20 {
			p, err := assign.Submit(t.Context(), c, double, i, assign.WithID(fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		waitAll(t, all, a)
		if ran.by["w3"] != 20 {
			t.Errorf("ran %v, want all at w3", ran.by)
		}
	})
}

// TestStickyTasksKeepToOneWorker: those of one key to the same one, also after the scheduler has
// changed; to one other when it is gone, and to any other when it is full.
func TestStickyTasksKeepToOneWorker(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("sticky")
		schedulers := []*node{newNode(t, s, "a", nil), newNode(t, s, "z", nil)}
		workers := map[string]*node{}
		for _, name := range []string{"w1", "w2", "w3"} {
			workers[name] = newNode(t, s, name, r.handle(t, name, k), workerOnly, slots(2))
		}
		first, c := leader(t, schedulers...), New(t, s)
		keys := []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}
		// round runs a task of each key, one after the other, and tells on whom.
		rounds := 0
		round := func() map[string]string {
			t.Helper()
			on := map[string]string{}
			for _, key := range keys {
				p := submitNamed(t, c, k, fmt.Sprint(key, "-", rounds), time.Millisecond, assign.WithSticky(key))
				out, err := p.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				on[key] = out
			}
			rounds++
			return on
		}
		before := round()
		used := slices.Compact(slices.Sorted(maps.Values(before)))
		if len(used) < 2 {
			t.Fatalf("eight keys, and all on %v", used)
		}
		for range 3 {
			if on := round(); !maps.Equal(on, before) {
				t.Errorf("%v, and then %v", before, on)
			}
		}
		first.link.Cut()
		if on := round(); !maps.Equal(on, before) {
			t.Errorf("%v, and under the next scheduler %v", before, on)
		}

		home := before["s0"]
		full := []*assign.Pending[string]{
			submitNamed(t, c, k, "full-0", 5*time.Second, assign.WithSticky("s0")), submitNamed(t, c, k, "full-1", 5*time.Second,
				assign.WithSticky("s0")),
			submitNamed(t, c, k, "full-2", 5*time.Second, assign.WithSticky("s0")),
		}
		waitAll(t, full)
		if on := r.on["full-2"]; r.on["full-0"] != home || r.on["full-1"] != home || on == home {
			t.Errorf("full is %s, which has two slots, and the third goes to %s: %v", home, on, r.on)
		}

		workers[home].link.Cut()
		natstest.Eventually(t, "it is known to be gone", 20*time.Second, func() (bool, string) {
			o, err := assign.GetOverview(t.Context(), c)
			return err == nil && len(o.Workers) == len(workers)-1, fmt.Sprint(o.Workers, err)
		})
		after := round()
		for key, on := range after {
			if was := before[key]; was == home && on == home || was != home && on != was {
				t.Errorf("%s was on %s and is on %s, when %s is gone", key, was, on, home)
			}
		}
		if on := round(); !maps.Equal(on, after) {
			t.Errorf("%v, and then %v", after, on)
		}
		workers[home].link.Heal()
		first.link.Heal()
	})
}
