package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// result is what became of the roles.
type result struct {
	local    map[string]int // terms of each site
	terms    int            // of planner
	steps    int            // of its work
	late     int            // those by a former leader
	stray    int            // those by a process that did not lead its site
	overlaps int            // two processes worked for one role at once
	back     int            // an epoch that is not above the one before
	without  time.Duration  // nobody worked for planner
	longest  time.Duration
	whole    time.Duration // from its first term to the end
}

// examine looks at all terms.
func (j *journal) examine() (r result) {
	r.local = map[string]int{}
	all := j.of(planner)
	for _, site := range sites {
		terms := j.of(site)
		r.local[site] = len(terms)
		r.compare(terms)
	}
	r.compare(all)
	r.terms, r.steps, r.late, r.stray = len(all), j.steps, j.late, j.stray
	for i, t := range all {
		if i > 0 {
			gap := max(t.from-all[i-1].to, 0)
			r.without, r.longest = r.without+gap, max(r.longest, gap)
		}
		r.whole = max(r.whole, t.to-all[0].from)
	}
	return r
}

// compare looks at the terms of one role, which are in the order of their beginnings.
func (r *result) compare(all []term) {
	for i := 1; i < len(all); i++ {
		for _, before := range all[:i] {
			if before.to > all[i].from {
				r.overlaps++
			}
		}
		if all[i].epoch <= all[i-1].epoch {
			r.back++
		}
	}
}

// String is the report.
func (r result) String() string {
	var local []string
	for _, site := range sites {
		local = append(local, fmt.Sprint(site, " ", r.local[site]))
	}
	return fmt.Sprintf("terms     %s %d, %s\n", planner, r.terms, strings.Join(local, ", ")) +
		fmt.Sprintf("planner   led for all but %v of %v, the longest time without was %v\n",
			short(r.without), short(r.whole), short(r.longest)) +
		fmt.Sprintf("work      %d steps, %d by a former leader, %d by a process that did not lead its site\n",
			r.steps, r.late, r.stray) +
		fmt.Sprintf("broken    %d overlaps, %d epochs that went back\n", r.overlaps, r.back)
}

func (r result) verdict() error {
	if r.late+r.stray+r.overlaps+r.back > 0 {
		return errors.New("a promise was broken")
	}
	return nil
}
