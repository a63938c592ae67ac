package recurring

import "time"

// Past is up to when the ticks of a definition are dealt with, which was stored at a time: no
// scheduler submits one up to then any more. passed is the last one that was submitted or left out,
// zero for none.
func (d Definition) Past(stored, passed, now time.Time) time.Time {
	if d.Paused { // those that come meanwhile are never its
		return now
	}
	return later(d.Start(stored), passed)
}

// Between are the ticks of a schedule from a moment up to another one, both included, limit of them
// at most. next is the first one that is left, zero for none.
func Between(s Schedule, from, to time.Time, limit int) (list []time.Time, next time.Time) {
	for t := s.Next(from.Add(-1)); !t.IsZero() && !t.After(to); t = s.Next(t) {
		if len(list) == limit {
			return list, t
		}
		list = append(list, t)
	}
	return list, time.Time{}
}
