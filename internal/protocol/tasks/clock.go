package tasks

import "time"

// clock is what time it is by the stream's clock. The times of tasks and ticks are on it: records
// are stored by it, and the clocks of two machines may differ by any amount. Our own seal tells:
// what was stored a moment ago was stored now. Until it has, the local clock is believed, and
// nothing is handed out, expires or fires.
//
// Invariant: when a record has come to us it is behind the stream's by what records take to come,
// and by what the two have drifted apart, and ahead by tolerance at most: so nothing happens before
// its time, also after the stream's clock was put back.
type clock struct {
	now   Instant       // of the present step
	shift time.Duration // from the scheduler's own scale to this one
	base  time.Time     // what it shows at 0; zero: nobody has said what time it is
	said  time.Duration // the shift that was told, or a later record has shown to be larger
	told  bool          // by a seal of ours
	last  Instant       // when that was, by the scheduler's own scale

	doubted bool // a record since then was stored much later, or earlier, than it shows

	local   time.Time // by the local clock, at localAt
	localAt Instant
}

// clockAge is how long a seal tells the time: then another one is written.
const clockAge = time.Hour

// tolerance is how much older than the clock shows, and younger, a record may be: more, and it has
// come late, or the stream's clock was put back or forward, which another seal tells.
const tolerance = time.Second

// set says that it is at by the stream's clock.
func (c *clock) set(now Instant, at time.Time) {
	c.shift = time.Duration(c.instant(at) - now)
	c.now, c.said = now.Add(c.shift), c.shift
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

// latest is what the clock may have come to by now: a record that has only come late has put it
// back.
func (c *clock) latest(now Instant) Instant { return max(c.now, now.Add(c.said)) }

// of is an instant of this clock on the scheduler's own scale.
func (c *clock) of(at Instant) Instant {
	if at == never {
		return never
	}
	return at.Add(-c.shift)
}

// stale reports whether the seal that has told the time is long ago.
func (c *clock) stale(now Instant) bool { return c.told && now >= c.due() }

// due is when another seal is to tell the time: soon, but not often, when a record was not of the
// time that the clock shows.
func (c *clock) due() Instant {
	if c.doubted {
		return c.last.Add(time.Minute)
	}
	return c.last.Add(clockAge)
}

// observe takes in when a record was stored that has come just now. The clock is put back to that
// at once, since nothing may happen before its time; if that record has only come late, the next
// ones put it forward again. Further than the seal has said it goes by a little only: where the
// stream's clock really is, if it was put back or forward, another seal tells.
func (c *clock) observe(stored Instant) {
	shift := c.shift + stored.Sub(c.now) // with which it shows that
	switch {
	case !c.told || shift <= c.shift && shift >= c.shift-tolerance:
	case shift > c.said+tolerance:
		c.doubted = true
	default:
		c.doubted = c.doubted || shift < c.shift
		c.said = max(c.said, shift)
		c.now += Instant(shift - c.shift)
		c.shift = shift
	}
}

// useLocal takes the local clock for the stream's, as long as no seal has told.
func (c *clock) useLocal(now Instant, wall time.Time) {
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

// timeFromSeal takes the time from a seal of ours. The first one puts back what waits for a worker
// too early: the local clock may be ahead, or the first record was stored before the stream's clock
// was put back.
func (s *Scheduler) timeFromSeal(stored time.Time) {
	if stored.IsZero() {
		return
	}
	first := !s.clock.told
	s.clock.told, s.clock.last, s.clock.doubted = true, s.now, false
	s.clock.set(s.now, stored)
	if !first {
		return
	}
	for t := range s.tasks.all() {
		if (t.phase == waiting || t.phase == parked) && t.due > s.clock.now && t.due != t.stored {
			s.unqueue(t)
			s.postpone(t, t.due)
		}
	}
}
