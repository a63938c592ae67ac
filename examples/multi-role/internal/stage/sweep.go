package stage

import (
	"cmp"
	"slices"
	"time"
)

// overlap is two terms of one role that shared time, which must never happen.
type overlap struct {
	a, b term
	by   time.Duration
}

// sweep finds the terms that overlap. It compares each with the one of the same role that began
// before it and lasted longest. Two terms that only touch do not overlap.
func sweep(terms []term) (found []overlap) {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.from, b.from), cmp.Compare(a.epoch, b.epoch))
	})
	var longest term
	for i, t := range terms {
		if i > 0 && t.role == longest.role {
			if t.from < longest.to {
				found = append(found, overlap{longest, t, min(t.to, longest.to) - t.from})
			}
			if t.to <= longest.to {
				continue
			}
		}
		longest = t
	}
	return found
}
