package tasks

import (
	"fmt"
	"time"
)

// sweepCheckpoints checks that an attempt gets the last checkpoint that was acknowledged since its
// task was submitted, or requeued, or a later one: the number of a checkpoint is one above that of
// the one before.
func sweepCheckpoints(records map[string][]Record, runs []Run, saved map[string][]save) (violations []Violation) {
	for i := range runs {
		r := &runs[i]
		var since time.Time
		for _, record := range records[r.Task] {
			if record.Outcome == nil && !record.Stored.After(r.From) {
				since = record.Stored
			}
		}
		for _, s := range saved[r.Task] {
			if s.step > r.Saved && s.at.Before(r.From) && s.at.After(since) {
				violations = append(violations,
					Violation{r.Task, fmt.Errorf("it was given checkpoint %d, and %d was acknowledged at %v:\n  %v", r.Saved, s.step,
						s.at, r)})
				break
			}
		}
	}
	return violations
}
