package tasks

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// hadEnded reports whether a task had an outcome before a moment: of that status, or any for "".
func hadEnded(history []Record, before time.Time, status string) bool {
	return slices.ContainsFunc(history, func(r Record) bool {
		return r.Outcome != nil && !r.Stored.After(before) && (status == "" || r.Outcome.Status == status)
	})
}

// sweepGroups checks that the completion of a group runs after all of its members have ended.
func sweepGroups(records map[string][]Record, sizes map[string]int, runs []Run) (violations []Violation) {
	for i := range runs {
		r := &runs[i]
		for m := range sizes[r.Task] {
			if id := groups.MemberID(r.Task, m); !hadEnded(records[id], r.From, "") {
				violations = append(violations,
					Violation{r.Task, fmt.Errorf("group: it runs, and %s had not ended:\n  %v", id, r)})
			}
		}
	}
	return violations
}

// sweepWaits checks that a task runs after those that it waits for.
func sweepWaits(records map[string][]Record, waiting map[string]waits, runs []Run) (violations []Violation) {
	for i := range runs {
		r := &runs[i]
		w, status := waiting[r.Task], succeeded
		if w.ended {
			status = ""
		}
		for _, id := range w.before {
			if !hadEnded(records[id], r.From, status) {
				violations = append(violations,
					Violation{r.Task, fmt.Errorf("after: it runs, and %s had not ended so:\n  %v", id, r)})
			}
		}
	}
	return violations
}

// sweepLimit checks that of a kind so many tasks run at once at most, under any leader. A task
// that was cancelled, or has expired, makes room when that is decided, and its handler is told
// later: it is left out.
func sweepLimit(
	records map[string][]Record, runs []Run, ends sessionEnds, kind string, most int, now time.Time,
) []Violation {
	type roomChange struct {
		at     time.Time
		change int
		r      *Run
	}
	var all []roomChange
	for i := range runs {
		r := &runs[i]
		history := records[r.Task]
		if len(history) == 0 || history[0].Kind != kind || slices.ContainsFunc(history, func(x Record) bool {
			return x.Outcome != nil && (x.Outcome.Status == "cancelled" || x.Outcome.Status == "expired")
		}) {
			continue
		}
		to := until(r, now)
		if end := ends.of(r); !end.IsZero() && end.Before(to) {
			to = end
		}
		if r.From.Before(to) {
			all = append(all, roomChange{r.From, 1, r}, roomChange{to, -1, r})
		}
	}
	slices.SortStableFunc(all, func(a, b roomChange) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.change, b.change))
	})
	n := 0
	for _, m := range all {
		if n += m.change; n > most {
			return []Violation{
				{m.r.Task, fmt.Errorf("limit: %d tasks of %s run at once: at most %d:\n  %v", n, kind, most, m.r)},
			}
		}
	}
	return nil
}

// sweepInnocents checks the tasks that are dead for the workers that they have lost: nothing else
// ran on the last one when it was lost. So nobody ends for what a neighbour has done.
func sweepInnocents(records map[string][]Record, runs []Run, ends sessionEnds, now time.Time) (violations []Violation) {
	for id, history := range records {
		for i := range history {
			o := history[i].Outcome
			if o == nil || o.Cause != "worker_lost" {
				continue
			}
			at := slices.IndexFunc(runs, func(r Run) bool {
				return r.Task == id && r.Epoch == o.Epoch && r.N == o.Attempt
			})
			if at < 0 {
				continue
			}
			own := &runs[at]
			lost := ends.of(own)
			for k := range runs {
				r := &runs[k]
				if !lost.IsZero() && r.Task != id && r.Process == own.Process && r.Session == own.Session &&
					r.From.Before(lost) && !until(r, now).Before(lost) {
					violations = append(violations,
						Violation{id, fmt.Errorf("it is dead for a worker that also ran\n  %v\n  %v", r, own)})
				}
			}
		}
	}
	return violations
}
