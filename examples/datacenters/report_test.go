package main

import (
	"strings"
	"testing"
	"time"
)

// TestExamine: each promise that is broken is counted, and the program then fails.
func TestExamine(t *testing.T) {
	at := func(role, id string, epoch uint64, from, to time.Duration) *term {
		site, _, _ := strings.Cut(id, "-")
		return &term{role: role, site: site, id: id, epoch: epoch, from: from, stopped: to, to: to, over: true}
	}
	oslo, paris := at("oslo", "oslo-1", 3, 0, 50), at("paris", "paris-1", 3, 0, 100)
	for name, c := range map[string]struct {
		terms []*term
		want  result
	}{
		"well": {
			[]*term{oslo, paris, at(planner, "oslo-1", 5, 10, 40), at(planner, "paris-1", 9, 45, 90)},
			result{terms: 2, without: 5, longest: 5, whole: 80},
		},
		"two at once": {
			[]*term{oslo, paris, at(planner, "oslo-1", 5, 10, 46), at(planner, "paris-1", 9, 45, 90)},
			result{terms: 2, overlaps: 1, whole: 80},
		},
		"two at a site": {
			[]*term{oslo, at("oslo", "oslo-2", 7, 49, 60), paris},
			result{overlaps: 1},
		},
		"an epoch again": {
			[]*term{oslo, paris, at(planner, "oslo-1", 5, 10, 40), at(planner, "paris-1", 5, 45, 90)},
			result{terms: 2, back: 1, without: 5, longest: 5, whole: 80},
		},
		"a step too late": {
			[]*term{oslo, paris, at(planner, "paris-1", 9, 45, 90), at(planner, "oslo-1", 5, 10, 40)},
			result{terms: 2, late: 1, without: 5, longest: 5, whole: 80},
		},
		"a stray step": {
			[]*term{oslo, paris, at(planner, "oslo-1", 5, 10, 40)},
			result{terms: 1, stray: 1, whole: 30},
		},
	} {
		j := newJournal()
		j.terms = c.terms
		for _, t := range c.terms {
			if t.role == planner {
				j.step(t.epoch, name == "a stray step")
			}
		}
		c.want.steps = c.want.terms
		got := j.examine()
		got.local = nil
		if got.String() != c.want.String() {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
		if failed := got.verdict() != nil; failed == (name == "well") {
			t.Errorf("%s: failed is %t", name, failed)
		}
	}
}
