package tasks

import "time"

// ceiling is what bounds the tasks of one kind: how many are with workers at once, and how many are handed out per second.
type ceiling struct {
	Concurrency int
	Rate        float64
	arrival     Instant // when the next one would be handed out if all came evenly; 0: nothing has been yet
}

// Bursts of a rate: a tenth of a second's worth, at least one task.
const burstShare = 10

// wait is how long a kind has to wait because of its rate, as of now. The bucket was empty when this scheduler became ready:
// what the one before it handed out in the last moment is not known.
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

// newRate changes the rate. What is waited for is not more than one task's time at the new one.
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

// limit is the tasks of one limit key. Those above it are set aside, where they are in nobody's way.
//
// Invariant: while some are set aside, those that run and those that wait are as many as may run. So whenever one of them
// goes, another one takes its place, and nobody is forgotten.
type limit struct {
	running int
	waiting int // in their lanes
	aside   queue
}

// full reports whether no more may run beside those that do.
func (l *limit) full(t *task) bool { return l != nil && l.running >= max(t.policy.KeyLimit, 1) }

func (s *Scheduler) limitOf(key string) *limit {
	l := s.limits[key]
	if l == nil {
		l = &limit{}
		s.limits[key] = l
	}
	return l
}

func (s *Scheduler) setAside(t *task) {
	s.move(t, aside)
	s.limitOf(t.limit()).aside.add(t, t.turn(s))
}

// admit lets those that were set aside into their lanes again, as many as there is room for.
func (s *Scheduler) admit(key string, l *limit) {
	for l.aside.len() > 0 {
		t := l.aside.rows[0].t
		if l.running+l.waiting >= max(t.policy.KeyLimit, 1) {
			return
		}
		l.aside.remove(t)
		s.stand(t)
		s.wake = s.now
	}
	if l.running == 0 && l.waiting == 0 {
		delete(s.limits, key)
	}
}

// leftLane counts a task that does not wait any more.
func (s *Scheduler) leftLane(t *task) {
	if key := t.limit(); key != "" {
		l := s.limitOf(key)
		l.waiting--
		s.admit(key, l)
	}
}

func (s *Scheduler) leftAside(t *task) {
	key := t.limit()
	l := s.limitOf(key)
	l.aside.remove(t)
	s.admit(key, l)
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
		s.admit(key, l)
	}
}
