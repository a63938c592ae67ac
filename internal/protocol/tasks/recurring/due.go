package recurring

import "time"

// Schedule is when: the first moment after t, the zero time for never again.
type Schedule interface{ Next(t time.Time) time.Time }

// CatchUp is what becomes of the ticks that nobody fired in time.
type CatchUp uint8

const (
	CatchUpLatest CatchUp = iota // the last one is fired
	CatchUpAll                   // each of them, as far back as the limit
	CatchUpSkip                  // those that are not older than the window
)

// Plan is which ticks there are, and how they are treated.
type Plan struct {
	Schedule Schedule
	CatchUp  CatchUp
	Window   time.Duration // a tick that could not be fired within it was missed
	Paused   bool          // there are none
	Overlap  Overlap       // what becomes of one while a task of the recurrence is open
}

const (
	maxTicks = 1000   // of one recurrence that are submitted late
	maxSteps = 10_000 // that are counted one by one
)

// Due is what becomes of the ticks after after, up to now: those that are to be submitted, in
// order, how many are dropped, and the last one that was looked at.
//
// A tick is missed when it is older than the window. CatchUpLatest submits one for all that are
// due, missed or not.
func (p *Plan) Due(after, now time.Time) (list []time.Time, dropped int, seen time.Time) {
	all, left := p.ticks(after, now)
	dropped, seen = left, after
	if len(all) > 0 {
		seen = all[len(all)-1]
	}
	keep := len(all)
	switch p.CatchUp {
	case CatchUpAll:
		keep = min(keep, maxTicks)
	case CatchUpSkip:
		for keep > 0 && now.Sub(all[len(all)-keep]) > p.Window {
			keep--
		}
	default:
		keep = min(keep, 1)
	}
	if p.Overlap.One() {
		keep = min(keep, 1)
	}
	return all[len(all)-keep:], dropped + len(all) - keep, seen
}

// ticks are those after after, up to now, at most the newest maxTicks of them. After a very long
// time it begins closer to the end, and does not count what it has left out.
func (p *Plan) ticks(after, now time.Time) (all []time.Time, left int) {
	steps := 0
	for t := p.Schedule.Next(after); !t.IsZero() && !t.After(now); t = p.Schedule.Next(t) {
		if steps++; steps > maxSteps {
			return p.newest(after, now), left
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
func (p *Plan) newest(after, now time.Time) (all []time.Time) {
	const most = 100 * 365 * 24 * time.Hour
	for back := time.Minute; ; back *= 4 {
		from := after
		if back < most {
			from = later(after, now.Add(-back))
		}
		all = all[:0]
		for t := p.Schedule.Next(from); !t.IsZero() && !t.After(now); t = p.Schedule.Next(t) {
			if all = append(all, t); len(all) > 2*maxSteps {
				all = append(all[:0], all[maxSteps:]...)
			}
		}
		if len(all) >= maxTicks || !from.After(after) {
			return all[max(len(all)-maxTicks, 0):]
		}
	}
}

func later(t, u time.Time) time.Time {
	if u.After(t) {
		return u
	}
	return t
}
