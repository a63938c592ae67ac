package gather

import (
	"slices"
	"time"
)

// samples are the last times that were measured of something, and a low one of them.
type samples struct {
	list []time.Duration
	n    int           // measured so far
	low  time.Duration // 0: there is none
}

// add adds a time, and keeps the last so many. Then a part of them is less than the low one: one in
// so many.
func (s *samples) add(d time.Duration, most, part int) {
	if len(s.list) < most {
		s.list = append(s.list, d)
	} else {
		s.list[s.n%most] = d
	}
	s.n++
	list := slices.Sorted(slices.Values(s.list))
	s.low = list[len(list)/part]
}
