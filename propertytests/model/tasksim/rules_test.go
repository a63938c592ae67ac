package tasksim

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// rules are what the counters say of single rules: a schedule in which a rule was never used proves
// nothing about it.
var rules = []struct{ counter, what string }{
	{"Keyed", "submissions with a unique key"},
	{"Shared", "submissions that found their key taken"},
	{"Rewritten", "outcomes that such a client has written again"},
	{"Freed", "unique keys that were freed"},
	{"Counted", "lost workers that count"},
	{"Suspected", "suspicions that were noted"},
	{"Alone", "attempts of suspects that ran alone"},
	{"Buried", "tasks that are dead for lost workers"},
	{"Rebound", "records of limits"},
	{"Disputed", "disputed limits"},
	{"Bounds", "hand-outs under a record of limits"},
	{"Full", "hand-outs up to what it says"},
	{"Undecoded", "inputs that a worker could not decode"},
	{"Undecodable", "tasks that are dead for that"},
	{"Missed", "messages that missed a worker"},
	{"Named", "workers that were named for that"},
	{"Words", "member records that say what a worker holds"},
	{"EndedAtRest", "sessions that were ended at rest"},
	{"Dropped", "ticks that nobody catches up with"},
	{"LeftOut", "ticks that were skipped for an open task"},
	{"Waited", "ticks that have waited for one"},
	{"Replaced", "tasks that were cancelled for a tick"},
	{"Tallies", "records of groups"},
	{"Groups", "groups that have completed"},
	{"GivenUp", "groups that were given up"},
	{"Renamed", "names of groups that were used again"},
	{"Chains", "tasks that ran after others"},
	{"Skipped", "tasks that were skipped"},
	{"Stayed", "outcomes that were made to stay"},
	{"Turns", "turns of fair keys"},
	{"Shares", "turns beside one with a share of several"},
	{"Fenced", "schedulers that the seal has refused"},
	{"Ahead", "outcomes written again ahead of a reading"},
	{"Resealed", "seals for what a reading has missed"},
	{"Opaque", "submissions of a later version"},
	{"Unreadable", "definitions of a later version"},
	{"Lower", "definitions of a lower version"},
	{"Together", "batches"},
	{"Halved", "batches that were halved"},
	{"Bundled", "bundles"},
	{"Ends", "records of members that have ended"},
	{"Whole", "bundles that have ended"},
}

// once counts one for each counter that is not 0: a sum of that says in how many schedules it was.
func (c *Counts) once() (o Counts) {
	from, to := reflect.ValueOf(c).Elem(), reflect.ValueOf(&o).Elem()
	for i := range from.NumField() {
		to.Field(i).SetInt(min(from.Field(i).Int(), 1))
	}
	return o
}

// ofRules says how often each rule was used, and in how many schedules.
func ofRules(sum, met *Counts) string {
	var all []string
	for _, r := range rules {
		all = append(all, fmt.Sprintf("%d %s in %d", sum.of(r.counter), r.what, met.of(r.counter)))
	}
	return "rules · " + strings.Join(all, " · ")
}

func (c *Counts) of(counter string) int64 {
	return reflect.ValueOf(c).Elem().FieldByName(counter).Int()
}

func TestWhatIsSaidOfRules(t *testing.T) {
	var sum, met Counts
	for _, c := range []Counts{{Groups: 3}, {}, {Groups: 2, Halved: 1}} {
		sum.Add(c)
		met.Add(c.once())
	}
	said := ofRules(&sum, &met)
	for _, want := range []string{
		"· 5 groups that have completed in 2 ·", "· 1 batches that were halved in 1", "· 0 turns",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
}
