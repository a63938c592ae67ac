package tasks

import "time"

// Placement chooses who runs a task. It must be a pure choice: the same from the same, without
// waiting for anything.
type Placement interface {
	// Place returns the index of one of among, or -1 to let the task wait. All of them take the
	// kind, have the labels and have room; there is at least one.
	//
	// For a task of more than one slot that is to wait it is asked once more, among all who have
	// slots enough, whether they are free now or not: on whom it chooses then room is kept for it.
	Place(task Placed, among []Candidate) int
}

// Placed is the task that a Placement chooses a worker for.
type Placed struct {
	ID       string
	Kind     string
	Sticky   string // its sticky key, "" for none
	Priority int
	Weight   int // slots that it takes
	Labels   map[string]string
}

// Candidate is a worker with room for a task.
type Candidate struct {
	Instance string
	Session  uint64
	Slots    int
	Load     int // slots that are taken
	Labels   map[string]string
	Own      bool // it is in the scheduler's process
}

// choose finds the worker for the first task of a class, nil when it has to wait.
func (s *Scheduler) choose(t *task) *worker {
	l := t.class
	p := l.pool
	p.fill(s)
	switch {
	case l.group != 0:
		return s.apart(t, p)
	case s.cfg.Placement != nil:
		return s.place(t, p)
	case t.sticky() != "":
		return s.stick(t, p)
	case l.weight == 1:
		return p.least(s)
	}
	var best candidate
	for i := range p.free {
		c := candidate{p.free[i].w, p.free[i].w.load}
		if c.w.idle(s) && c.w.room() >= l.weight && (best.w == nil || c.before(&best)) {
			best = c
		}
	}
	if best.w == nil {
		s.reserve(p, l.weight)
	}
	return best.w
}

// reserve keeps room for a task that needs more of it than any worker has at the moment: until it
// is there, that worker is given nothing else. The one with the most room is kept, so it can only
// get more.
func (s *Scheduler) reserve(p *pool, weight int) {
	var most *worker
	for _, w := range p.workers {
		if !w.takesNew() || w.slots < weight || w.reserved == s.round || s.isolates(w, s.now) {
			continue
		}
		if w.room() >= weight { // it is only busy with an answer
			return
		}
		if most == nil || w.room() > most.room() {
			most = w
		}
	}
	if most != nil {
		most.reserved = s.round
	}
}

// stick chooses by rendezvous hashing (Thaler and Ravishankar 1998): when workers come and go, only
// their own keys move. One that has not answered its last frame is chosen too, and gets the task
// after that. For a task that needs more room than anybody has, it is kept where the key belongs.
func (s *Scheduler) stick(t *task, p *pool) (best *worker) {
	var most, mostOfAll uint64
	var home *worker
	weight := t.class.weight
	key := hashOf(t.sticky())
	for _, w := range p.workers {
		if !w.takesNew() || w.reserved == s.round || w.slots < weight || s.isolates(w, s.now) {
			continue
		}
		h := mix(key ^ w.hash)
		if home == nil || h > mostOfAll {
			home, mostOfAll = w, h
		}
		if w.paused > s.now || w.room() < weight || len(w.fresh) >= maxPerFrame {
			continue
		}
		if best == nil || h > most {
			best, most = w, h
		}
	}
	if best == nil {
		s.keepRoom(home, weight)
	}
	return best
}

// place asks the configured Placement.
func (s *Scheduler) place(t *task, p *pool) *worker {
	weight := t.class.weight
	w := s.ask(t, p, func(w *worker) bool { return w.idle(s) && w.room() >= weight })
	if w == nil && weight > 1 {
		s.keepRoom(s.ask(t, p, func(w *worker) bool {
			return w.takesNew() && w.slots >= weight && w.reserved != s.round && !s.isolates(w, s.now)
		}), weight)
	}
	return w
}

func (s *Scheduler) ask(t *task, p *pool, fit func(w *worker) bool) *worker {
	s.among = s.among[:0]
	var those []*worker
	for _, w := range p.workers {
		if fit(w) {
			s.among = append(s.among, Candidate{w.instance, w.session, w.slots, w.load, w.labels, w.own})
			those = append(those, w)
		}
	}
	if len(those) == 0 {
		return nil
	}
	of := Placed{
		ID: t.id(), Kind: t.policy.Kind, Sticky: t.sticky(), Priority: t.policy.Priority, Weight: t.class.weight,
		Labels: t.policy.Labels,
	}
	if i := s.cfg.Placement.Place(of, s.among); i >= 0 && i < len(those) {
		return those[i]
	}
	return nil
}

// keepRoom keeps a worker from being given anything else in this round, unless it has the room
// already.
func (s *Scheduler) keepRoom(w *worker, weight int) {
	if w != nil && weight > 1 && w.room() < weight {
		w.reserved = s.round
	}
}

// hashOf is FNV-1a; mix is the end of splitmix64.
func hashOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// apart chooses a worker for a suspect: one that tries its group already, else one that runs
// little. The scheduler's own process goes last.
func (s *Scheduler) apart(t *task, p *pool) *worker {
	group, alone, weight := s.group(t), s.isolated(t), t.class.weight
	fits := func(w *worker) bool {
		if alone && (len(w.held) > 0 || w.shuns > s.now) {
			return false
		}
		tries := w.trying(s.now)
		return w.idle(s) && w.room() >= weight && (tries == 0 || tries == group)
	}
	var best *worker
	if s.cfg.Placement != nil {
		best = s.ask(t, p, fits)
	} else {
		for _, w := range p.workers {
			if fits(w) && (best == nil || s.suits(w, best, group, alone)) {
				best = w
			}
		}
	}
	if best == nil && alone {
		s.vacateFor(p, weight)
	}
	return best
}

// suits reports whether one worker is better than another for a suspect of a group. One that must
// run alone goes where its loss counts even if the worker is lost before it has said that it takes
// it.
func (s *Scheduler) suits(w, than *worker, group uint64, alone bool) bool {
	if a, b := w.trying(s.now) == group, than.trying(s.now) == group; a != b {
		return a
	}
	if w.own != than.own {
		return than.own
	}
	if alone && w.unsure != than.unsure {
		return than.unsure
	}
	return len(w.held) < len(than.held)
}

// vacateFor keeps the worker that runs the least from being given more, until it runs nothing.
func (s *Scheduler) vacateFor(p *pool, weight int) {
	var least *worker
	for _, w := range p.workers {
		if !w.takesNew() || w.slots < weight || w.reserved == s.round || w.shuns > s.now || s.isolates(w, s.now) {
			continue
		}
		if len(w.held) == 0 { // it is only busy with an answer
			return
		}
		if w.spared <= s.now && (least == nil || len(w.held) < len(least.held)) {
			least = w
		}
	}
	if least != nil {
		least.reserved = s.round
		if least.emptied == 0 {
			least.emptied = s.now
		}
	}
}

// A worker that refuses what must run alone is asked again after a second, and ever later, up to a
// minute, if it runs nothing then. It is not emptied for that before it was used for eightfold the
// time that it was emptied in vain: handlers that never return take a ninth of it at most from
// other tasks.
const (
	firstShun, longestShun = time.Second, time.Minute
	usedBetween            = 8
)

// shun keeps a worker from being asked soon again to take what must run alone: a handler runs there
// that was told to stop. Others go there meanwhile.
func (w *worker) shun(now Instant) {
	w.shuns = now.Add(min(firstShun<<min(w.shunned, 8), longestShun))
	if w.emptied > 0 {
		w.spared = now.Add(usedBetween * now.Sub(w.emptied))
	}
	w.unsure, w.emptied = true, 0
	w.shunned++
}
