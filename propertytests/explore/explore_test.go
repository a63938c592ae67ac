package explore

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/explore/assignment"
	"github.com/rolemanager/rolemanager/propertytests/explore/elections"
	"github.com/rolemanager/rolemanager/propertytests/explore/search"
)

var (
	states = flag.Int("explore.states", usual, "how many states of each configuration are looked at, 0: all of them")
	depth  = flag.Int("explore.depth", 0, "how many moves from the start at most, 0: any number")
	only   = flag.String("explore.only", "", "the name of the only configuration to search")
)

// whole are configurations of which also the short run looks at every state that there is.
var whole = []string{"succession of two", "drift and a crash", "repeated", "repeated twice", "one task"}

// wide are configurations of which the short run looks at more than at others: much happens in them within few moves.
var wide = []string{"three members, two faults", "two roles, two faults", "three members, two roles"}

// usual and further are how many states the short run looks at, of most configurations and of the wide ones.
const usual, further = 8_000, 100_000

func TestElections(t *testing.T) {
	total := 0
	for _, c := range Elections() {
		total += explored(t, c.Name, elections.New(&c))
	}
	enough(t, total, 900_000)
}

func TestTasks(t *testing.T) {
	total := 0
	for _, c := range Tasks() {
		total += explored(t, c.Name, assignment.New(&c))
	}
	enough(t, total, 40_000)
}

// explored searches one configuration and returns how many states it has seen.
func explored[S any](t *testing.T, name string, m search.Model[S]) (found int) {
	if *only != "" && name != *only {
		return 0
	}
	t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
		bounds := search.Bounds{States: *states, Depth: *depth, Every: func(r search.Report) { t.Log(r) }}
		if *states == usual && slices.Contains(wide, name) {
			bounds.States = further
		}
		if raceEnabled { // nothing here is concurrent: a look at the copying of memory is enough
			bounds.States = min(bounds.States, 500)
		}
		bounds.Hope = *states == 0 || *states > usual || slices.Contains(whole, name)
		all := slices.Contains(whole, name) && *depth == 0 && !raceEnabled
		if all {
			bounds.States = 0
		}
		r := search.Run(m, bounds)
		t.Log(r)
		if v := r.Violation; v != nil {
			t.Fatalf("%v\nafter %d moves, among %d states:\n%s", v.Err, len(v.Moves), r.States, strings.Join(v.Story, "\n"))
		}
		if all && !r.Whole {
			t.Errorf("not all states were reached: %v", r)
		}
		if _, is := m.(search.Hopeful[S]); is && all && r.Good == 0 {
			t.Errorf("no state is a good end: %v", r)
		}
		found = r.States
	})
	return found
}

// enough fails a run that has looked at too little to say anything.
func enough(t *testing.T, total, least int) {
	if *only == "" && *depth == 0 && !raceEnabled && *states == usual && !t.Failed() && total < least {
		t.Errorf("%d states in all, at least %d were expected", total, least)
	}
}
