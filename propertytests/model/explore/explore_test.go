package explore

import (
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/race"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/elections"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/tasks"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/unique"
)

var (
	states = flag.Int("explore.states", usual, "how many states of each configuration are looked at, 0: all of them")
	depth  = flag.Int("explore.depth", 0, "how many moves from the start at most, 0: any number")
	only   = flag.String("explore.only", "", "the name of the only configuration to search")
	record = flag.String("explore.record", "",
		"a file of comma-separated values that is given a line for each configuration")
)

// whole are configurations of which also the short run looks at every state that there is.
var whole = []string{
	"undisturbed",
	"three members, the leader is gone", "three members, two roles, the leader is gone",
	"two roles, spread, a member joins",
}

// single is one of which the short run looks at every state too, where long tests are played.
const single = "one task"

// isWhole reports whether the short run looks at every state of a configuration.
func isWhole(name string) bool {
	return slices.Contains(whole, name) || name == single && thorough.Larger()
}

// ending are configurations so narrow that a long run comes to the end of them, each with the
// landmarks that it cannot come by. It has to come by the others: all states of one in which
// nothing happens say nothing. The work of a process that has crashed has ended with it, who is
// asked to go waits for its own, and who is evicted is not followed before that has ended, unless
// it is slow.
var ending = map[string][]string{
	"three members, the leader is gone":                          {deposed},
	"three members, two roles, the leader is gone":               {deposed},
	"three members, the leader is gone, a delay":                 {deposed},
	"three members, the leader is gone, any fault for two units": {deposed},
	"three members apart, a crash":                               {deposed},
	"three members, a unit beside a paused leader":               nil,
	"two roles change hands":                                     {deposed},
	"two roles, a paused leader":                                 nil,
}

const deposed = "with work of a deposed leader"

// eventful are configurations in which a role changes hands while its former leader is still there:
// so much happens within few moves that each has to come by all landmarks.
var eventful = []string{
	"three members, a paused leader", "three members, two roles, a paused leader",
	"three members, two roles, one fault beside a paused leader", "drift, two roles, one fault beside a paused leader",
	"drift, three members, one fault beside a paused leader",
}

// late is the configuration in which a report comes late, crowd the one in which clients that
// disappear leave unique keys behind, and counted the one in which states that differ in how many
// writes there were come to the same. Each takes as many states.
const late, crowd, counted = "repeated", "two clients", "two tasks"

// slow are eventful ones of which only CI looks at as many states as it takes to come by all
// landmarks: any two things may go wrong in them. The others come by these within fewer.
var slow = []string{"three members, a paused leader", "three members, two roles, a paused leader"}

// How many states the short run looks at: of most configurations, and of the eventful ones, late,
// crowd and counted; fewer of them where long tests are left out. And how many a long one.
const usual, fewer, more, long = 1_000, 14_000, 35_000, 1_200_000

// reach is how many states of a configuration the short run looks at.
func reach(name string) int {
	switch {
	case name == crowd, thorough.Larger() && slices.Contains(slices.Concat(eventful, []string{late, counted}), name):
		return more
	case slices.Contains(slow, name):
		return usual
	case slices.Contains(slices.Concat(eventful, []string{late, counted}), name):
		return fewer
	}
	return usual
}

// telling is how many states of an eventful configuration come by all landmarks.
func telling(name string) int {
	if slices.Contains(slow, name) {
		return more
	}
	return fewer
}

// alike is of how many fingerprints one is looked at closely: it costs a few transitions for each
// state that is met again.
const alike = 100

// percent is the pace of the collector in the short run, which keeps few states: a quarter of its
// time would go into looking through them. A long run needs the memory for states.
const percent = 400

func TestMain(m *testing.M) {
	flag.Parse()
	if *states == usual {
		debug.SetGCPercent(percent)
	}
	os.Exit(m.Run())
}

func TestElections(t *testing.T) {
	var all []search.Report
	for _, c := range Elections() {
		all = append(all, explored(t, c.Name, elections.New(&c)))
	}
	least := thorough.Pick(80_000, 200_000)
	enough(t, all, least)
}

func TestTasks(t *testing.T) {
	var all []search.Report
	for _, c := range Tasks() {
		all = append(all, explored(t, c.Name, tasks.New(&c)))
	}
	least := thorough.Pick(30_000, 40_000)
	enough(t, all, least)
}

func TestUnique(t *testing.T) {
	var all []search.Report
	for _, c := range Unique() {
		all = append(all, explored(t, c.Name, unique.New(&c)))
	}
	enough(t, all, 80_000)
}

// explored searches one configuration.
func explored[S any](t *testing.T, name string, m search.Model[S]) (r search.Report) {
	if *only != "" && name != *only {
		return r
	}
	if *record != "" {
		if _, err := mark(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
		bounds := search.Bounds{States: *states, Depth: *depth, Alike: alike, Every: func(r search.Report) { t.Log(r) }}
		if *states == usual {
			bounds.States = reach(name)
		}
		if race.Enabled { // nothing here is concurrent: a look at the copying of memory is enough
			bounds.States = min(bounds.States, 500)
		}
		bounds.Liveness = *states == 0 || *states > usual || isWhole(name)
		all := isWhole(name) && *depth == 0 && !race.Enabled
		if all {
			bounds.States = 0
		}
		r = search.Run(m, bounds)
		t.Log(r)
		if v := r.Violation; v != nil {
			t.Fatalf("%v\nafter %d moves, among %d states:\n%s", v.Err, len(v.Moves), r.States, strings.Join(v.Story, "\n"))
		}
		without, narrow := ending[name]
		if far := bounds.Depth == 0 && (bounds.States == 0 || bounds.States >= long); (all || narrow && far) && !r.Whole {
			t.Errorf("not all states were reached: %v", r)
		}
		if missing := except(r.Missing(), without); narrow && r.Whole && len(missing) > 0 {
			t.Errorf("no state %s: %v", strings.Join(missing, ", nor one "), r)
		}
		if _, is := m.(search.Recoverable[S]); is && all && r.Good == 0 {
			t.Errorf("no state is a good end: %v", r)
		}
		enough := bounds.Depth == 0 && (bounds.States == 0 || bounds.States >= telling(name))
		if missing := r.Missing(); slices.Contains(eventful, name) && enough && len(missing) > 0 {
			t.Errorf("no state %s: %v", strings.Join(missing, ", nor one "), r)
		}
		if *record != "" {
			keep(t, searchRow{t.Name(), name, r})
		}
	})
	return r
}

// except leaves out what is known to be missing.
func except(missing, known []string) []string {
	return slices.DeleteFunc(missing, func(name string) bool { return slices.Contains(known, name) })
}

// enough fails a run that has looked at too little to say anything.
func enough(t *testing.T, all []search.Report, least int) {
	if *only != "" || *depth != 0 || race.Enabled || t.Failed() {
		return
	}
	total := sum(all)
	t.Log(total)
	if *states == usual && total.States < least {
		t.Errorf("%d states in all, at least %d were expected", total.States, least)
	}
	if missing := total.Missing(); (*states == 0 || *states >= usual) && len(missing) > 0 {
		t.Errorf("in no configuration there is a state %s", strings.Join(missing, ", nor one "))
	}
}

// sum is all of them together.
func sum(all []search.Report) (total search.Report) {
	total.Whole = true
	for _, r := range all {
		total.States += r.States
		total.Transitions += r.Transitions
		total.Depth = max(total.Depth, r.Depth)
		total.Waiting += r.Waiting
		total.Alike += r.Alike
		total.Whole = total.Whole && r.Whole
		total.Took += r.Took
		for i, l := range r.Landmarks {
			if i == len(total.Landmarks) {
				total.Landmarks = append(total.Landmarks, search.Landmark{Name: l.Name})
			}
			total.Landmarks[i].States += l.States
		}
	}
	return total
}
