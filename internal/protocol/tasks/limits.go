package tasks

import (
	"maps"
	"slices"
	"time"
)

// ceiling is what bounds the tasks of one kind.
type ceiling struct {
	Limits
	arrival Instant // when the next one would be handed out if all came evenly; 0: nothing has been yet
}

// Bursts of a rate: a tenth of a second's worth, at least one task.
const burstShare = 10

// wait is how long a kind has to wait because of its rate, as of now. The bucket was empty when
// this scheduler became ready: what the one before it handed out in the last moment is not known.
func (c *ceiling) wait(ready, now Instant) time.Duration {
	if c.Rate <= 0 {
		return 0
	}
	step, slack := c.pace()
	if c.arrival == 0 {
		c.arrival = ready.Add(slack + step)
	}
	return c.arrival.Add(-slack).Sub(now)
}

// newRate changes the rate. The wait is not longer than one task's time at the new one.
func (c *ceiling) newRate(rate float64, now Instant) {
	if c.Rate = rate; rate > 0 && c.arrival != 0 {
		step, slack := c.pace()
		c.arrival = min(c.arrival, now.Add(slack+step))
	}
}

func (c *ceiling) spend(now Instant) {
	if c.Rate > 0 {
		step, _ := c.pace()
		c.arrival = max(c.arrival, now).Add(step)
	}
}

// pace is the time from one task to the next, and how much earlier one may be.
func (c *ceiling) pace() (step, slack time.Duration) {
	step = time.Duration(min(float64(time.Second)/c.Rate, float64(1<<50)))
	burst := max(c.Rate/burstShare, 1)
	return step, time.Duration((burst - 1) * float64(step))
}

// limit is the tasks of one limit key. Those above it are parked, where they are in nobody's way.
type limit struct {
	running   int
	subqueues []*subqueue // those in which some are parked
}

// full reports whether no more may run beside those that do.
func (l *limit) full(t *task) bool { return l != nil && l.running >= t.keyLimit() }

func (s *Scheduler) limitOf(key string) *limit {
	l := s.limits[key]
	if l == nil {
		l = &limit{}
		s.limits[key] = l
	}
	return l
}

// occupy counts a task that a worker gets; vacate one that it has no more.
func (s *Scheduler) occupy(t *task) {
	if key := t.limit(); key != "" {
		s.limitOf(key).running++
	}
}

func (s *Scheduler) vacate(t *task) {
	if key := t.limit(); key != "" {
		l := s.limitOf(key)
		l.running--
		for i := len(l.subqueues) - 1; i >= 0; i-- {
			s.tend(l.subqueues[i])
		}
		s.leaveLimit(key, l)
	}
}

// leaveLimit forgets the limit of a key of which no task runs and none is parked.
func (s *Scheduler) leaveLimit(key string, l *limit) {
	if l.running == 0 && len(l.subqueues) == 0 {
		delete(s.limits, key)
	}
}

// Limits are those of a kind.
type Limits struct {
	Concurrency int     // tasks that run at once, 0: any number
	Rate        float64 // tasks that are handed out per second, 0: any number
	KeyLimit    int     // tasks of one Keys.Limit that run at once, 0 is 1
}

// A kind's limits are in a record of their own, which its programs declare and operators override.
// So no message changes them: none of an older program, none that a person has typed, and none that
// was stored long ago. As long as a kind has no record, the limits of its newest submission count.

// Override replaces limits; one that is nil stays.
type Override struct {
	Concurrency *int
	Rate        *float64
	KeyLimit    *int
	Shares      map[string]int
}

// Over are limits with the override in their place.
func (o *Override) Over(l Limits) Limits {
	if o == nil {
		return l
	}
	if o.Concurrency != nil {
		l.Concurrency = *o.Concurrency
	}
	if o.Rate != nil {
		l.Rate = *o.Rate
	}
	if o.KeyLimit != nil {
		l.KeyLimit = *o.KeyLimit
	}
	return l
}

// bounds is the record of a kind's limits.
type bounds struct {
	declared *Limits
	shares   map[string]int // likewise
	override *Override
	until    Instant // of the override, by the stream's clock
}

func (e LimitsSeen) apply(s *Scheduler) {
	if !e.Stored.IsZero() {
		s.clock.Observe(s.clock.Instant(e.Stored)) // the end of an override is on that clock
	}
	if e.Gone {
		delete(s.bounds, e.Kind)
	} else {
		b := bounds{e.Declared, e.Shares, e.Override, never}
		if !e.Until.IsZero() {
			b.until = s.clock.Instant(e.Until)
		}
		s.bounds[e.Kind] = b
		s.nextBound = min(s.nextBound, b.until)
	}
	s.rebind(e.Kind)
}

// bind gives a kind the limits that count now.
func (s *Scheduler) bind(k *kind) {
	b, l := s.bounds[k.name], k.said
	if b.declared != nil {
		l = *b.declared
	}
	l = b.override.Over(l)
	k.keyBound = b.declared != nil || b.override != nil && b.override.KeyLimit != nil
	if l.Rate != k.Rate {
		k.newRate(l.Rate, s.now)
	}
	k.Concurrency, k.KeyLimit = l.Concurrency, l.KeyLimit
	if k.shares = b.shares; b.override != nil && b.override.Shares != nil {
		k.shares = b.override.Shares
	}
	if k.turns != nil {
		k.turns.Shares = k.shares
	}
}

// rebind is bind after the record has changed: tasks may be parked for a limit that is higher now.
func (s *Scheduler) rebind(name string) {
	k := s.kinds[name]
	if k == nil {
		return
	}
	s.bind(k)
	for _, key := range slices.Sorted(maps.Keys(k.classes)) {
		subqueues := k.classes[key].parked
		for _, of := range slices.Sorted(maps.Keys(subqueues)) {
			s.tend(subqueues[of])
		}
	}
	s.wake = s.now
}

// expireBounds lets overrides end whose time is over.
func (s *Scheduler) expireBounds() {
	if s.nextBound > s.clock.Now {
		return
	}
	s.nextBound = never
	for _, name := range slices.Sorted(maps.Keys(s.bounds)) {
		b := s.bounds[name]
		if b.until <= s.clock.Now {
			b.override, b.until = nil, never
			s.bounds[name] = b
			s.rebind(name)
		}
		s.nextBound = min(s.nextBound, b.until)
	}
}

// keyLimit is how many tasks of a task's limit key may run at once.
func (t *task) keyLimit() int {
	if t.class.kind.keyBound {
		return max(t.class.kind.KeyLimit, 1)
	}
	return max(t.policy.KeyLimit, 1)
}

// recorded is the key limit of a kind's record, 0 for none.
func (k *kind) recorded() int {
	if k.keyBound {
		return max(k.KeyLimit, 1)
	}
	return 0
}

// Declaration is what a program says about a kind, as text, under a version of the program's own.
type Declaration struct {
	Version int
	Terms   string
}

// Standing is what becomes of a declaration.
type Standing uint8

const (
	Stays    Standing = iota // the stored one stays: it says the same, or has a higher version
	Replaced                 // the stored one is replaced
	Disputed                 // both say something else under one version: the stored one stays
)

// Beside is what becomes of a declaration beside the stored one, nil for none. A lower version
// never replaces a higher one, so that the restart of an old program brings no old limit back. Of
// two with one version the first stays, so that programs which disagree do not take turns.
func (d Declaration) Beside(stored *Declaration) Standing {
	switch {
	case stored == nil, d.Version > stored.Version:
		return Replaced
	case d.Version == stored.Version && d.Terms != stored.Terms:
		return Disputed
	}
	return Stays
}
