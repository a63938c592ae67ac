package elections

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Sweep returns every violation of E1, E2 and E4 so far, with the stretches that show it.
func (l *Ledger) Sweep() (violations []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	violations = slices.Clone(l.violations)
	for _, role := range slices.Sorted(maps.Keys(l.holds)) {
		holds := slices.SortedFunc(l.stretches(role), func(a, b *Hold) int { return a.From.Compare(b.From) })
		violations = append(violations, overlaps(holds)...)
		violations = append(violations, epochs(holds)...)
	}
	return violations
}

// stretches are those of a role. In real time one of which no end is written down lasts until its
// deadline.
func (l *Ledger) stretches(role string) iter.Seq[*Hold] {
	return func(yield func(*Hold) bool) {
		for _, h := range l.holds[role] {
			if l.realtime && h.Until.IsZero() {
				bounded := *h
				bounded.Until = l.end(h, h.deadline)
				h = &bounded
			}
			if !yield(h) {
				return
			}
		}
	}
}

// overlaps is E1: stretches of one role are disjoint. One that ends in the moment in which the next
// begins does not overlap with it. holds are sorted by their beginning.
func overlaps(holds []*Hold) (violations []error) {
	var last *Hold // the one that lasts longest of those before
	for _, h := range holds {
		// A sample from before the work was written down is of the same term.
		if last != nil && !last.same(h) && (last.Until.IsZero() || h.From.Before(last.Until)) {
			violations = append(violations, fmt.Errorf("E1: two leaders of %s:\n  %v\n  %v", h.Role, last, h))
		}
		if last == nil || !last.Until.IsZero() && (h.Until.IsZero() || h.Until.After(last.Until)) {
			last = h
		}
	}
	return violations
}

// same reports whether two stretches are of one term.
func (h *Hold) same(g *Hold) bool { return h.Process == g.Process && h.Epoch == g.Epoch }

// epochs is E2: they strictly increase, and each has one holder.
func epochs(holds []*Hold) (violations []error) {
	for i, h := range holds {
		if i == 0 {
			continue
		}
		before := holds[i-1]
		if h.Epoch < before.Epoch || h.Epoch == before.Epoch && h.Process != before.Process {
			violations = append(violations, fmt.Errorf("E2: epochs of %s do not increase:\n  %v\n  %v", h.Role, before, h))
		}
	}
	return violations
}
