package stage

import (
	"fmt"
	"time"
)

// shownFaults is how many faults the summary lists. The JSON report has them all.
const shownFaults = 10

// summary is the report for a person.
func (r *report) summary() []string {
	t := r.Tasks
	lines := []string{
		"", fmt.Sprintf("tasks      %d submitted: %d succeeded with the right digest, %d failed, %d wrong, %d lost",
			t.Submitted, t.Succeeded, t.Failed, t.Wrong, t.Lost),
		fmt.Sprintf("           %s, %d of them from a checkpoint; %d cancelled; %d adopted by another scheduler",
			number(t.Reruns, "rerun"), t.Resumed, t.Cancelled, r.Adopted),
		fmt.Sprintf("ticks      %d of the recurring task, one for each second; %d missing",
			r.Ticks.Fired+r.Ticks.Left, r.Ticks.Missing),
	}
	if t.Unfinished > 0 {
		lines = append(lines, fmt.Sprintf("           %d unfinished: interrupted", t.Unfinished))
	}
	if k := r.Killed; k != nil {
		lines = append(lines, k.line())
	}
	for _, f := range r.Failovers {
		lines = append(lines, fmt.Sprintf("fail-over  %-9s  %-8s  %10v  %s to %s",
			f.Role, f.Kind, milliseconds(f.GapMS), f.From, f.To))
	}
	if r.Overlaps != nil {
		lines = append(lines, fmt.Sprintf("overlaps   %d in %s", *r.Overlaps, number(r.terms, "term")))
	} else {
		lines = append(lines, "overlaps   not known: clocks of different processes cannot be compared")
	}
	for i, f := range r.Faults {
		if i == shownFaults {
			lines = append(lines, fmt.Sprintf("           … and %d more", len(r.Faults)-i))
			break
		}
		lines = append(lines, "           "+f)
	}
	return append(lines, fmt.Sprintf("time       %.1f s", float64(r.TookMS)/1000))
}

// milliseconds is a duration of that many, rounded for people.
func milliseconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Millisecond)).Round(10 * time.Microsecond)
}

// number is a number of things.
func number(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
