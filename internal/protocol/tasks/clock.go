package tasks

import "time"

// clock is what time it is by the stream's clock. The times of tasks and ticks are on it: records are stored by it, and the
// clocks of two machines may differ by any amount. Our own seal tells: what was stored a moment ago was stored now. Until it
// has, the local clock is believed, and nothing is handed out, expires or fires.
//
// Invariant: it is behind the stream's by what a record takes to come to us, and by what the two have drifted apart, and not
// ahead: so nothing happens before its time.
type clock struct {
	now   Instant       // of the present step
	shift time.Duration // from the scheduler's own scale to this one
	base  time.Time     // what it shows at 0; zero: nobody has said what time it is
	told  bool          // by a seal of ours
	last  Instant       // when that was, by the scheduler's own scale

	behind bool // a record since then was stored later than it shows

	local   time.Time // by the local clock, at localAt
	localAt Instant
}

// clockAge is how long a seal tells the time: then another one is written.
const clockAge = time.Hour

// set says that it is at by the stream's clock.
func (c *clock) set(now Instant, at time.Time) {
	c.shift = time.Duration(c.instant(at) - now)
	c.now = now.Add(c.shift)
}

// instant is when the clock shows t.
func (c *clock) instant(t time.Time) Instant {
	if c.base.IsZero() { // the first that is heard of it
		c.base = t.Add(-time.Duration(c.now))
	}
	return Instant(t.Sub(c.base))
}

// time is what the clock shows.
func (c *clock) time() time.Time { return c.base.Add(time.Duration(c.now)) }

// of is an instant of this clock on the scheduler's own scale.
func (c *clock) of(at Instant) Instant {
	if at == never {
		return never
	}
	return at.Add(-c.shift)
}

// old reports whether the seal that has told the time is long ago.
func (c *clock) old(now Instant) bool { return c.told && now >= c.due() }

// due is when another seal is to tell the time: at once, but not often, when a record has shown that the stream's clock was
// put forward.
func (c *clock) due() Instant {
	if c.behind {
		return c.last.Add(time.Minute)
	}
	return c.last.Add(clockAge)
}

// hear notices that a record was stored at a time to which the clock has not come yet. It follows a little; how far ahead the
// stream's clock really is, if it was put forward, another seal tells.
func (c *clock) hear(stored Instant) {
	switch ahead := stored.Sub(c.now); {
	case !c.told || ahead <= 0:
	case ahead > time.Second:
		c.behind = true
	default:
		c.shift += ahead
		c.now = stored
	}
}

// guess takes the local clock for the stream's, as long as no seal has told.
func (c *clock) guess(now Instant, wall time.Time) {
	if wall.IsZero() {
		return
	}
	c.local, c.localAt = wall, now
	if !c.told {
		c.set(now, wall)
	}
}

// localTime is the local clock's, zero when that is not known.
func (c *clock) localTime(now Instant) time.Time {
	if c.local.IsZero() {
		return c.local
	}
	return c.local.Add(now.Sub(c.localAt))
}

// tellTime takes the time from a seal of ours. What waits for a worker too early, because the local clock is ahead, is put
// back.
func (s *Scheduler) tellTime(stored time.Time) {
	if stored.IsZero() {
		return
	}
	first, guessed := !s.clock.told, s.clock.shift
	s.clock.told, s.clock.last, s.clock.behind = true, s.now, false
	s.clock.set(s.now, stored)
	if !first || s.clock.shift >= guessed {
		return
	}
	for t := range s.tasks.all() {
		if (t.phase == waiting || t.phase == aside) && t.due > s.clock.now && t.due != t.stored {
			s.unqueue(t)
			s.postpone(t, t.due)
		}
	}
}
