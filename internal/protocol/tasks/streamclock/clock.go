package streamclock

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Clock is what time it is by the stream's clock. The times of tasks and ticks are on it: records
// are stored by it, and the clocks of two machines may differ by any amount. Our own seal tells:
// what was stored a moment ago was stored now. Until it has, the local clock is believed, and
// nothing is handed out, expires or fires.
//
// Invariant: when a record has come to us it is behind the stream's by what records take to come,
// and by what the two have drifted apart, and ahead by tolerance at most: so nothing happens before
// its time, also after the stream's clock was put back.
type Clock struct {
	Now   record.Instant // of the present step
	shift time.Duration  // from the scheduler's own scale to this one
	base  time.Time      // what it shows at 0; zero: nobody has said what time it is
	said  time.Duration  // the shift that was told, or a later record has shown to be larger
	Told  bool           // by a seal of ours
	last  record.Instant // when that was, by the scheduler's own scale

	doubted bool // a record since then was stored much later, or earlier, than it shows

	local   time.Time // by the local clock, at localAt
	localAt record.Instant
}

// clockAge is how long a seal tells the time: then another one is written.
const clockAge = time.Hour

// tolerance is how much older than the clock shows, and younger, a record may be: more, and it has
// come late, or the stream's clock was put back or forward, which another seal tells.
const tolerance = time.Second

// Running reports whether anybody has said what time it is.
func (c *Clock) Running() bool { return !c.base.IsZero() }

// Step sets the moment of the present step.
func (c *Clock) Step(now record.Instant) { c.Now = c.At(now) }

// At is what the clock shows at an instant of the scheduler's own scale.
func (c *Clock) At(now record.Instant) record.Instant { return now.Add(c.shift) }

// FromSeal takes the time from a seal of ours.
func (c *Clock) FromSeal(now record.Instant, stored time.Time) {
	c.Told, c.last, c.doubted = true, now, false
	c.set(now, stored)
}

// set says that it is at by the stream's clock.
func (c *Clock) set(now record.Instant, at time.Time) {
	c.shift = time.Duration(c.Instant(at) - now)
	c.Now, c.said = now.Add(c.shift), c.shift
}

// Instant is when the clock shows t.
func (c *Clock) Instant(t time.Time) record.Instant {
	if c.base.IsZero() { // the first that is heard of it
		c.base = t.Add(-time.Duration(c.Now))
	}
	return record.Instant(t.Sub(c.base))
}

// Time is what the clock shows.
func (c *Clock) Time() time.Time { return c.base.Add(time.Duration(c.Now)) }

// Latest is what the clock may have come to already: a record that has only come late has put it
// back.
func (c *Clock) Latest(now record.Instant) record.Instant { return max(c.Now, now.Add(c.said)) }

// Of is an instant of this clock on the scheduler's own scale.
func (c *Clock) Of(at record.Instant) record.Instant {
	if at == record.Never {
		return record.Never
	}
	return at.Add(-c.shift)
}

// Stale reports whether the seal that has told the time is long ago.
func (c *Clock) Stale(now record.Instant) bool { return c.Told && now >= c.Due() }

// Due is when another seal is to tell the time: soon, but not often, when a record was not of the
// time that the clock shows.
func (c *Clock) Due() record.Instant {
	if c.doubted {
		return c.last.Add(time.Minute)
	}
	return c.last.Add(clockAge)
}

// Observe takes in when a record was stored that has come just now. The clock is put back to that
// at once, since nothing may happen before its time; if that record has only come late, the next
// ones put it forward again. Further than the seal has said it goes by a little only: where the
// stream's clock really is, if it was put back or forward, another seal tells.
func (c *Clock) Observe(stored record.Instant) {
	shift := c.shift + stored.Sub(c.Now) // with which it shows that
	switch {
	case !c.Told || shift <= c.shift && shift >= c.shift-tolerance:
	case shift > c.said+tolerance:
		c.doubted = true
	default:
		c.doubted = c.doubted || shift < c.shift
		c.said = max(c.said, shift)
		c.Now += record.Instant(shift - c.shift)
		c.shift = shift
	}
}

// UseLocal takes the local clock for the stream's, as long as no seal has told.
func (c *Clock) UseLocal(now record.Instant, wall time.Time) {
	if wall.IsZero() {
		return
	}
	c.local, c.localAt = wall, now
	if !c.Told {
		c.set(now, wall)
	}
}

// LocalTime is the local clock's, zero when that is not known.
func (c *Clock) LocalTime(now record.Instant) time.Time {
	if c.local.IsZero() {
		return c.local
	}
	return c.local.Add(now.Sub(c.localAt))
}
