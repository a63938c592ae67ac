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
// Invariant: while some of a lane are set aside, those that run, of all lanes, and those that were let into that lane again are
// as many as may run. So whenever one of them goes, another one takes its place, and nobody is forgotten; and what cannot go
// at present (its kind is paused, nobody takes it) holds nobody's place in other lanes. What waits in a lane and never was
// set aside is not counted: it may be set aside yet, when its turn comes.
type limit struct {
	running int
	lines   int     // lanes in which it has one
	kept    []*line // those in which some are set aside
}

// line is the tasks of one key in one lane that are set aside, or were, and wait.
type line struct {
	of       *limit
	admitted int // into the lane again
	aside    queue
	place    int // in of.kept, from 1
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

// lineOf is where a task is set aside.
func (s *Scheduler) lineOf(t *task, key string) *line {
	n := t.lane.lines[key]
	if n == nil {
		if t.lane.lines == nil {
			t.lane.lines = map[string]*line{}
		}
		n = &line{of: s.limitOf(key)}
		n.of.lines++
		t.lane.lines[key] = n
	}
	return n
}

func (s *Scheduler) setAside(t *task) {
	s.move(t, aside)
	n := s.lineOf(t, t.limit())
	n.aside.add(t, t.turn(s))
	if n.place == 0 {
		n.of.kept = append(n.of.kept, n)
		n.place = len(n.of.kept)
	}
}

// unkeep strikes a line of which nobody is set aside any more.
func (n *line) unkeep() {
	if n.place == 0 || n.aside.len() > 0 {
		return
	}
	kept := n.of.kept
	last := len(kept) - 1
	kept[n.place-1] = kept[last]
	kept[n.place-1].place = n.place
	kept[last] = nil
	n.of.kept, n.place = kept[:last], 0
}

// admit lets those that were set aside into their lanes again, as many as there is room for.
func (s *Scheduler) admit(key string, l *limit) {
	for i := len(l.kept) - 1; i >= 0; i-- {
		n := l.kept[i]
		for n.aside.len() > 0 {
			t := n.aside.rows[0].t
			if l.running+n.admitted >= max(t.policy.KeyLimit, 1) {
				break
			}
			n.aside.remove(t)
			n.admitted++
			t.admitted = true
			s.stand(t)
			s.wake = s.now
		}
		n.unkeep()
	}
	if l.running == 0 && l.lines == 0 {
		delete(s.limits, key)
	}
}

// leftLane counts a task that was let into its lane again and does not wait any more.
func (s *Scheduler) leftLane(t *task) {
	if t.admitted {
		t.admitted = false
		n := t.lane.lines[t.limit()]
		n.admitted--
		s.leftLine(t.lane, t.limit(), n)
	}
}

func (s *Scheduler) leftAside(t *task) {
	key := t.limit()
	n := t.lane.lines[key]
	n.aside.remove(t)
	n.unkeep()
	s.leftLine(t.lane, key, n)
}

func (s *Scheduler) leftLine(l *lane, key string, n *line) {
	if n.admitted == 0 && n.aside.len() == 0 {
		delete(l.lines, key)
		n.of.lines--
	}
	s.admit(key, n.of)
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
