package tasks

import "time"

const (
	maxTicks = 1000   // of one recurrence that are submitted late
	maxSteps = 10_000 // that are counted one by one
)

// due is what becomes of the ticks after after, up to now: those that are to be submitted, in
// order, how many are dropped, and the last one that was looked at.
//
// A tick is missed when it is older than the grace. RunLatest submits one for all that are due,
// missed or not.
func (r *Recurrence) due(after, now time.Time) (list []time.Time, dropped int, seen time.Time) {
	all, left := r.ticks(after, now)
	dropped, seen = left, after
	if len(all) > 0 {
		seen = all[len(all)-1]
	}
	keep := len(all)
	switch r.Missed {
	case RunAll:
		keep = min(keep, maxTicks)
	case Skip:
		for keep > 0 && now.Sub(all[len(all)-keep]) > r.Grace {
			keep--
		}
	default:
		keep = min(keep, 1)
	}
	return all[len(all)-keep:], dropped + len(all) - keep, seen
}

// ticks are those after after, up to now, at most the newest maxTicks of them. After a very long
// time it begins closer to the end, and does not count what it has left out.
func (r *Recurrence) ticks(after, now time.Time) (all []time.Time, left int) {
	steps := 0
	for t := r.Schedule.Next(after); !t.IsZero() && !t.After(now); t = r.Schedule.Next(t) {
		if steps++; steps > maxSteps {
			return r.newest(after, now), left
		}
		if len(all) == 2*maxTicks {
			left += maxTicks
			all = append(all[:0], all[maxTicks:]...)
		}
		all = append(all, t)
	}
	if n := len(all) - maxTicks; n > 0 {
		all, left = all[n:], left+n
	}
	return all, left
}

// newest looks back from now, further and further, until there are enough.
func (r *Recurrence) newest(after, now time.Time) (all []time.Time) {
	const most = 100 * 365 * 24 * time.Hour
	for back := time.Minute; ; back *= 4 {
		from := after
		if back < most {
			from = latest(after, now.Add(-back))
		}
		all = all[:0]
		for t := r.Schedule.Next(from); !t.IsZero() && !t.After(now); t = r.Schedule.Next(t) {
			if all = append(all, t); len(all) > 2*maxSteps {
				all = append(all[:0], all[maxSteps:]...)
			}
		}
		if len(all) >= maxTicks || !from.After(after) {
			return all[max(len(all)-maxTicks, 0):]
		}
	}
}
