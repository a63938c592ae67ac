package taskarena

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
			// The session of the former must have ended, and only one that does not heed its context may still be there.
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

// sweepEpochs is T3. Handlers that begin in one moment have no order.
func sweepEpochs(runs []Run) (violations []Violation) {
	runs = byBeginning(runs)
	type seen struct {
		before, now *Run // the highest before this moment, and in it
	}
	highest := map[string]seen{}
	for i := range runs {
		r := &runs[i]
		s := highest[r.Process]
		if s.now != nil && r.From.After(s.now.From) {
			s.before = higher(s.before, s.now)
			s.now = nil
		}
		if s.before != nil && r.Epoch < s.before.Epoch {
			violations = append(violations, Violation{r.Task, fmt.Errorf("T3: a handler begins under epoch %d after one under %d:\n  %v\n  %v", r.Epoch, s.before.Epoch, s.before, r)})
		}
		s.now = higher(s.now, r)
		highest[r.Process] = s
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
