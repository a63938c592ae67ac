package tasks

import (
	"strings"
	"testing"
	"time"
)

// of is an attempt of another task.
func of(task string, r Run) Run {
	r.Task = task
	return r
}

// stands is a record of a task that was stored at s; a status makes it an outcome of attempt 7.1.
func stands(s int, status, cause string) Record {
	r := Record{Revision: uint64(s) + 1, Stored: at(s), Kind: "few"}
	if status != "" {
		r.Outcome = &Outcome{Kind: "few", Status: status, Cause: cause, Epoch: 7, Attempt: 1, Worker: "a"}
	}
	return r
}

// TestSweepsFindWhatDoesNotBelongTogether: planted faults of groups, of tasks that wait for others,
// of limits, and of neighbours.
func TestSweepsFindWhatDoesNotBelongTogether(t *testing.T) {
	history := func(all ...Record) []Record { return all }
	runsOf := func(runs ...Run) []Run { return runs }
	open, done, dead := stands(0, "", ""), stands(5, succeeded, ""), stands(5, "dead", "permanent")
	grouped := func(second []Record, from int) []Violation {
		return sweepGroups(map[string][]Record{"group/g/0": history(done), "group/g/1": second},
			map[string]int{"group/g": 2}, runsOf(of("group/g", run("a#0", 7, 1, from, 9, succeeded))))
	}
	after := func(end Record, ended bool, from int) []Violation {
		return sweepWaits(map[string][]Record{"u": history(open, end)},
			map[string]waits{"t": {[]string{"u"}, ended}}, runsOf(run("a#0", 7, 1, from, 9, "x")))
	}
	limited := func(most, to, from int, ends sessionEnds) []Violation {
		return sweepLimit(map[string][]Record{"t": history(open), "u": history(open)},
			runsOf(run("a#0", 7, 1, 0, to, "x"), of("u", run("b#1", 8, 1, from, 8, "x"))), ends, "few", most, at(9))
	}
	lost := sessionEnds{lost: map[session]time.Time{{"a#0", 5}: at(3)}}
	buried := func(other Run) []Violation {
		return sweepInnocents(map[string][]Record{"t": history(open, stands(5, "dead", "worker_lost"))},
			runsOf(run("a#0", 7, 1, 0, 3, "x"), of("u", other)), lost, at(9))
	}
	for name, c := range map[string]struct {
		got  []Violation
		want string
	}{
		"a group":                         {grouped(history(open, dead), 6), ""},
		"a group with an open member":     {grouped(history(open), 6), "group/g/1 had not ended"},
		"a group, a moment too early":     {grouped(history(open, dead), 4), "had not ended"},
		"after another":                   {after(done, false, 6), ""},
		"after one that has failed":       {after(dead, false, 6), "had not ended so"},
		"after the end of one":            {after(dead, true, 6), ""},
		"before the end of one":           {after(dead, true, 4), "had not ended so"},
		"one after the other":             {limited(1, 4, 4, sessionEnds{}), ""},
		"two at once":                     {limited(1, 4, 3, sessionEnds{}), "2 tasks of few"},
		"two at once may":                 {limited(2, 4, 3, sessionEnds{}), ""},
		"one whose session is lost":       {limited(1, 4, 3, lost), ""},
		"one that never ends":             {limited(1, -1, 7, sessionEnds{}), "2 tasks of few"},
		"alone on a lost worker":          {buried(run("a#0", 7, 1, 1, 2, "x")), ""},
		"beside one on another worker":    {buried(run("b#1", 7, 1, 1, 9, "x")), ""},
		"beside another on a lost worker": {buried(run("a#0", 7, 1, 1, 3, "x")), "that also ran"},
	} {
		switch {
		case c.want == "" && len(c.got) > 0:
			t.Errorf("%s: %v", name, c.got)
		case c.want != "" && (len(c.got) == 0 || !strings.Contains(c.got[0].Err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, c.got, c.want)
		}
	}
}
