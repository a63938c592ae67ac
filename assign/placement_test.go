package assign_test

import (
	"fmt"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// lastByName gives every task to the worker whose name comes last, and lets it wait while that has no room.
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
		a := newNode(t, s, "a", nil, func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.Placement = lastByName{} })
		leader(t, a)
		for _, name := range []string{"w1", "w2", "w3"} {
			newNode(t, s, name, doubling(t, name, ran), workerOnly, slots(2))
		}
		c := newClient(t, s)
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
