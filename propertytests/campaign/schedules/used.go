package schedules

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// ruleUse is how often one rule was used in all schedules of a mark, and in how many of them.
type ruleUse struct {
	what, rules, rule string
	schedules         int // of the mark, of which it is known
	times, in         int
}

// Cells are its values in the file.
func (u *ruleUse) Cells() []any {
	return []any{&u.what, &u.rules, &u.rule, &u.schedules, &u.times, &u.in}
}

// useTable is the file beside that of the ranges.
func useTable(ranges string) runlog.Table[ruleUse, *ruleUse] {
	return runlog.Table[ruleUse, *ruleUse]{
		Path: filepath.Join(filepath.Dir(ranges), "rules.csv"),
		Head: []string{"played", "rules", "rule", "schedules", "times", "in"},
	}
}

var useOf = regexp.MustCompile(`^(\d+) (.+) in (\d+)$`)

// used is what a test says of single rules, in a line of its own.
func used(said string) (all []ruleUse) {
	for text := range strings.Lines(said) {
		_, list, is := strings.Cut(strings.TrimSpace(text), "rules · ")
		if !is {
			continue
		}
		for _, item := range strings.Split(list, " · ") {
			if m := useOf.FindStringSubmatch(item); m != nil {
				times, _ := strconv.Atoi(m[1]) // digits
				in, _ := strconv.Atoi(m[3])
				all = append(all, ruleUse{rule: m[2], times: times, in: in})
			}
		}
	}
	return all
}

// addUses adds what a range has said to what is known of its mark.
func addUses(known []ruleUse, l *seedRange, said []ruleUse) []ruleUse {
next:
	for _, u := range said {
		u.what, u.rules, u.schedules = l.what, l.rules, l.schedules
		for i := range known {
			if k := &known[i]; k.what == u.what && k.rules == u.rules && k.rule == u.rule {
				k.schedules += u.schedules
				k.times += u.times
				k.in += u.in
				continue next
			}
		}
		known = append(known, u)
	}
	return known
}

// keepUses puts what a range has said of single rules into the file.
func keepUses(ranges string, l *seedRange, said string) error {
	uses := used(said)
	if len(uses) == 0 {
		return nil
	}
	known, err := useTable(ranges).Read()
	if err != nil {
		return err
	}
	return useTable(ranges).Write(addUses(known, l, uses))
}

// tellUses writes what the lines come to, of all marks together.
func tellUses(w io.Writer, all []ruleUse) error {
	var sum []ruleUse
	for _, u := range all {
		sum = addUses(sum, &seedRange{what: u.what, schedules: u.schedules}, []ruleUse{u})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "played\trule\ttimes\tin schedules\tof")
	for _, u := range sum {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\n", u.what, u.rule, u.times, u.in, u.schedules)
	}
	return table.Flush()
}
