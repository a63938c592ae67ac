package schedules

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// read makes the line of a range from what its test has said. Of one that has failed not everything
// may be known; of another that is an error.
func (k kind) read(first uint64, schedules int, said string, failed bool) (l seedRange, err error) {
	l = seedRange{what: k.name, first: first, last: first + uint64(k.seeds(schedules)) - 1, schedules: schedules}
	missing := ""
	for _, c := range []struct {
		to    *int
		names []string
	}{{&l.seconds, k.seconds}, {&l.faults, k.faults}, {&l.terms, k.terms}} {
		for _, name := range c.names {
			n, found := counter(said, name)
			if !found {
				missing = name
			}
			*c.to += n
		}
	}
	if k.counter != "" {
		n, found := counter(said, k.counter)
		if !found {
			missing = k.counter
		}
		l.schedules = n
	}
	switch {
	case !failed && missing != "":
		return l, fmt.Errorf("the test does not say how many %s there were:\n%.2000s", missing, said)
	case failed:
		k.violated(&l, said, missing == "")
	}
	return l, nil
}

// violated counts a violation, and no more schedules than were played until then. With all
// counters, and no word of how many it played, the test has come to its end, and what failed is
// what it checks there.
func (k kind) violated(l *seedRange, said string, counted bool) {
	l.violations++
	if !counted {
		l.seconds, l.faults, l.terms = 0, 0, 0 // some of them without the others would be of nothing
	}
	seeds := k.seeds(l.schedules)
	switch bySeed, byRapid := number(k.bySeed, said), number(k.byRapid, said); {
	case bySeed > 0:
		l.schedules = bySeed
		l.last = l.first + uint64(min(bySeed, seeds)) - 1
	case byRapid >= 0:
		l.schedules = seeds + byRapid + 1 // it says how many went well
	case !counted:
		l.schedules = 0
	}
}

// number is what stands where a pattern has its group, -1 without.
func number(pattern *regexp.Regexp, said string) int {
	if pattern == nil {
		return -1
	}
	m := pattern.FindStringSubmatch(said)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}

var numbers = regexp.MustCompile(` (\d+)`)

// counter is the number after a name (Terms:17), or the sum of a list that begins with it (faults ·
// cut 3 · crash 4).
func counter(said, name string) (n int, found bool) {
	if m := regexp.MustCompile(`\b` + name + `:(\d+)`).FindStringSubmatch(said); m != nil {
		n, err := strconv.Atoi(m[1])
		return n, err == nil
	}
	for text := range strings.Lines(said) {
		if list, is := strings.CutPrefix(strings.TrimSpace(text), name+" · "); is {
			for _, m := range numbers.FindAllStringSubmatch(list, -1) {
				one, err := strconv.Atoi(m[1])
				if err != nil {
					return 0, false
				}
				n += one
			}
			return n, true
		}
	}
	return 0, false
}
