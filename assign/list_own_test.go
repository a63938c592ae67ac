package assign_test

import (
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// open are the states of tasks that have not ended.
var open = []assign.State{assign.StatePending, assign.StateDelayed, assign.StateRunning, assign.StateRetrying}

// TestListDoesNotGoBack: a caller that has been told of an outcome does not find the task open.
func TestListDoesNotGoBack(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		n := newNode(t, s, "a", doubling(t, "a", ran))
		c := New(t, s)
		for round := range 40 {
			all, err := assign.SubmitBatch(t.Context(), c, double, make([]int, 5))
			if err != nil {
				t.Fatal(err)
			}
			var known []string
			for _, p := range all {
				if _, err := p.Wait(t.Context()); err != nil {
					t.Fatalf("%v\n%s", err, n.dump())
				}
				known = append(known, p.ID())
				for id, st := range listAll(t, c, assign.ListOptions{States: open}) {
					if slices.Contains(known, id) {
						t.Fatalf("round %d: %s has ended, and is listed as %s", round, id, st.State)
					}
				}
			}
		}
	})
}
