package schedules

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// rangeSum is what some ranges of a kind come to.
type rangeSum struct {
	seedRange
	stopped int // ranges that a violation has stopped, without counters: only their violations are in the sum
}

// bound is how rare a violation is, with a confidence of 95 %, by the rule of three: none in n
// terms says that it is not in three of n.
func (s *rangeSum) bound() string {
	if s.violations > 0 || s.terms < 3 {
		return "-"
	}
	return fmt.Sprintf("1 in %d", s.terms/3)
}

// total sums up a kind, or what is of some rules of it.
func total(all []seedRange, what, rules string) rangeSum {
	s := sumOf(all, func(l seedRange) bool { return l.what == what && (rules == "" || l.rules == rules) })
	s.what, s.rules = what, rules
	return s
}

func sumOf(all []seedRange, counts func(seedRange) bool) (s rangeSum) {
	for _, l := range all {
		if !counts(l) {
			continue
		}
		if s.last = max(s.last, l.last); s.first == 0 || l.first < s.first {
			s.first = l.first
		}
		s.violations += l.violations
		if l.violations > 0 && l.terms == 0 {
			s.stopped++
			continue
		}
		s.schedules += l.schedules
		s.seconds += l.seconds
		s.faults += l.faults
		s.terms += l.terms
	}
	return s
}

// since are seeds of elections from which on what is played is otherwise; docs/verification/runs.md
// says how.
var since = []uint64{392_001, 5_132_001}

// tell writes what the lines come to: of each kind all, then what is of each mark of rules; and the
// seeds without a line. It is of the lines alone, so that a document can quote it.
func tell(w io.Writer, all []seedRange) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table,
		"played\trules\tfirst seed\tlast seed\tschedules\thours\tfaults\tterms\tviolations\tnot counted\tbelow")
	row := func(what, rules string, counts func(seedRange) bool) {
		s := sumOf(all, func(l seedRange) bool { return l.what == what && counts(l) })
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n",
			what, rules, s.first, s.last, s.schedules, s.seconds/3600, s.faults, s.terms, s.violations, s.stopped, s.bound())
	}
	var missing []string
	for _, k := range kinds {
		var marks []string
		for _, l := range all {
			if l.what == k.name && !slices.Contains(marks, l.rules) {
				marks = append(marks, l.rules)
			}
		}
		if len(marks) == 0 {
			missing = append(missing, k.name+": no line")
			continue
		}
		row(k.name, "all", func(seedRange) bool { return true })
		for _, seed := range since {
			if k.name == "elections" {
				row(k.name, "since", func(l seedRange) bool { return l.first >= seed })
			}
		}
		for _, mark := range marks {
			name := mark
			if name == "" {
				name = "not noted"
			}
			row(k.name, name, func(l seedRange) bool { return l.rules == mark })
		}
		for _, g := range gaps(all, k.name) {
			missing = append(missing, fmt.Sprintf("%s: no line has seeds %d to %d", k.name, g[0], g[1]))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, strings.Join(missing, "\n"))
	return err
}

// gaps are the seeds between the first and the last of a kind that no line has: of each gap its
// first and its last one.
func gaps(all []seedRange, what string) (found [][2]uint64) {
	mine := slices.DeleteFunc(slices.Clone(all), func(l seedRange) bool { return l.what != what })
	slices.SortFunc(mine, func(a, b seedRange) int { return cmp.Compare(a.first, b.first) })
	next := uint64(1)
	for _, l := range mine {
		if l.first > next {
			found = append(found, [2]uint64{next, l.first - 1})
		}
		next = max(next, l.last+1)
	}
	return found
}

// summed says what the file comes to, and which of that is of the rules as they are.
func summed(w io.Writer, path string) error {
	lines, err := table(path).Read()
	if err != nil {
		return err
	}
	if err := tell(w, lines); err != nil {
		return err
	}
	var present []string
	for _, k := range kinds {
		rules, err := k.present()
		if err != nil {
			return err
		}
		if total(lines, k.name, rules).first == 0 {
			rules += " (nothing)"
		}
		present = append(present, k.name+" "+rules)
	}
	_, err = fmt.Fprintf(w, "\nThe rules as they are: %s.\n", strings.Join(present, ", "))
	return err
}
