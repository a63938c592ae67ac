package explore

import (
	"flag"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/explore/elections"
	"github.com/rolemanager/rolemanager/propertytests/explore/search"
)

var (
	states = flag.Int("explore.states", 12_000, "how many states of each configuration are looked at, 0: all of them")
	depth  = flag.Int("explore.depth", 0, "how many moves from the start at most, 0: any number")
	only   = flag.String("explore.only", "", "the name of the only configuration to search")
)

func TestElections(t *testing.T) {
	total := 0
	for _, c := range Elections() {
		if *only != "" && c.Name != *only {
			continue
		}
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			total += explored(t, search.Run(elections.New(&c), search.Bounds{States: *states, Depth: *depth, Every: told(t)}))
		})
	}
	if *only == "" && *depth == 0 && !t.Failed() && total < 100_000 {
		t.Errorf("%d states in all: this run proves less than it says", total)
	}
}

func told(t *testing.T) func(search.Report) {
	return func(r search.Report) { t.Log(r) }
}

func explored(t *testing.T, r search.Report) int {
	t.Helper()
	t.Log(r)
	if v := r.Violation; v != nil {
		t.Fatalf("%v\nafter %d moves, among %d states:\n%s", v.Err, len(v.Moves), r.States, strings.Join(v.Story, "\n"))
	}
	return r.States
}
