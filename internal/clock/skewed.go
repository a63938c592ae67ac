package clock

import "time"

// Skewed returns a clock that runs at rate times the pace of base, with instants that are offset
// ahead. In a simulation it represents another machine: leases must stay exclusive at rates from
// 0.97 to 1.03 with the default margin. The rate counts from the call: both scales of the new clock
// begin at base's reading plus offset.
func Skewed(base Clock, rate float64, offset time.Duration) Clock {
	return &skewed{base: base, rate: rate, offset: offset, from: base.Now()}
}

type skewed struct {
	base   Clock
	rate   float64
	offset time.Duration
	from   Now
}

func (s *skewed) Now() Now {
	n := s.base.Now()
	return Now{Holder: s.bend(n.Holder, s.from.Holder), Observer: s.bend(n.Observer, s.from.Observer)}
}

func (s *skewed) Holder() Instant { return s.bend(s.base.Holder(), s.from.Holder) }

// bend scales only the time since the clock was made. A float64 holds that time exactly to the
// nanosecond for a hundred days, but could not hold an instant since 1970.
func (s *skewed) bend(i, from Instant) Instant {
	passed := time.Duration(float64(i.Sub(from)) * s.rate)
	return from.Add(passed).Add(s.offset)
}
