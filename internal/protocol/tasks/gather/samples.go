package gather

import (
	"slices"
	"time"
)

const (
	kept = 32 // times that count
	part = 8  // one in so many is less than the low one: the least may be a stroke of luck
)

// samples are the last times that were measured of something, and a low one of them.
type samples struct {
	list []time.Duration
	n    int           // measured so far
	low  time.Duration // 0: there is none
}

func (s *samples) add(d time.Duration) {
	if len(s.list) < kept {
		s.list = append(s.list, d)
	} else {
		s.list[s.n%kept] = d
	}
	s.n++
	s.low = slices.Sorted(slices.Values(s.list))[len(s.list)/part]
}
