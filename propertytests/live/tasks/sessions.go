package tasks

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// sessionEnds are when sessions were over: for their own process, and for all others.
type sessionEnds struct {
	lost map[session]time.Time
	over map[over]time.Time
}

// of is when the session of a run was over, by whatever was first; zero when it was not.
func (e sessionEnds) of(r *Run) time.Time {
	lost, over := e.lost[session{r.Process, r.Session}], e.over[over{r.Instance, r.Session}]
	if lost.IsZero() || !over.IsZero() && over.Before(lost) {
		return over
	}
	return lost
}

// sweepRuns checks what can be seen of the attempts alone: T5, and that each is run once.
func sweepRuns(runs []Run, ends sessionEnds, now time.Time) (violations []Violation) {
	runs = byBeginning(runs)
	type attempt struct {
		task  string
		epoch uint64
		n     uint32
	}
	once, longest := map[attempt]*Run{}, map[string]*Run{}
	violated := func(r *Run, format string, args ...any) {
		violations = append(violations, Violation{r.Task, fmt.Errorf(format, args...)})
	}
	for i := range runs {
		r := &runs[i]
		if to, end := until(r, now), ends.of(r); !end.IsZero() && to.After(end.Add(r.Stubborn)) {
			violated(r, "T5: it ran on after its session had ended at %v:\n  %v", end, r)
		}
		id := attempt{r.Task, r.Epoch, r.N}
		if before := once[id]; before != nil {
			violated(r, "an attempt was run twice:\n  %v\n  %v", before, r)
		}
		once[id] = r
		before := longest[r.Task]
		if before != nil && r.From.Before(until(before, now)) {
			// The session of the former must have ended, and only one that does not heed its context may
			// still be there.
			if end := ends.of(before); before.Stubborn == 0 || end.IsZero() || end.After(r.From) {
				violated(r, "T5: two handlers of one task:\n  %v\n  %v", before, r)
			}
		}
		if before == nil || until(r, now).After(until(before, now)) {
			longest[r.Task] = r
		}
	}
	return violations
}

// sweepEpochs is T3. Handlers that begin within slack of each other have no order: each is a
// goroutine of its own.
func sweepEpochs(runs []Run, slack time.Duration) (violations []Violation) {
	of := map[string][]*Run{}
	runs = byBeginning(runs)
	for i := range runs {
		of[runs[i].Process] = append(of[runs[i].Process], &runs[i])
	}
	for _, own := range of {
		var highest *Run // of those that began before
		next := 0
		for _, r := range own {
			for ; own[next].From.Add(slack).Before(r.From); next++ {
				highest = higher(highest, own[next])
			}
			if highest != nil && r.Epoch < highest.Epoch {
				violations = append(violations,
					Violation{r.Task, fmt.Errorf("T3: a handler begins under epoch %d after one under %d:\n  %v\n  %v", r.Epoch,
						highest.Epoch, highest, r)})
			}
		}
	}
	return violations
}

// higher is the later of two by when they began, with the higher epoch.
func higher(a, b *Run) *Run {
	if a == nil || cmp.Compare(b.Epoch, a.Epoch) >= 0 {
		return b
	}
	return a
}

func byBeginning(runs []Run) []Run {
	return slices.SortedStableFunc(slices.Values(runs), func(a, b Run) int { return a.From.Compare(b.From) })
}

func until(r *Run, now time.Time) time.Time {
	if r.To.IsZero() {
		return now
	}
	return r.To
}
