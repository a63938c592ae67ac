package tasks

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// worker is a live session that takes tasks, in the state.
type worker struct {
	session  uint64
	instance string
	order    int    // in which they came
	hash     uint64 // of the instance
	works    bool   // its record names this namespace
	own      bool   // it is in the scheduler's process
	draining bool   // it takes nothing new any more
	drained  bool   // nor as long as this is asked for
	slots    int
	kinds    []string
	labels   map[string]string
	build    string
	shares   []string
	since    Instant // when it came
	foreign  bool    // neither does its record name this namespace, nor is it unknown whether it will

	synced bool
	asked  Instant // when to ask it again what it holds
	claims []Held  // what it has answered, until the state is complete

	held     []*task // what it has been given
	load     int     // slots that takes
	reserved uint64  // the round in which it is kept for one that needs more
	group    uint64  // whose suspects it runs
	trial    Instant // until when
	alone    Instant // until when one of them must run alone
	last     held    // that has run alone, and of which the end may not be stored yet
	kept     Instant // until when a task that we cannot read may be said to run here alone
	unsure   bool    // what it was told to stop may still run, or what we cannot read
	heeds    bool    // it takes what must run alone only when nothing else runs there
	shuns    Instant // it has refused such a task: it is asked for none until then
	shunned  int     // refusals of these in a row
	emptied  Instant // since when it is given nothing so that one of these finds it empty, 0: it is not
	spared   Instant // it was emptied in vain: it is not emptied again until then

	open        []handed // what is in its frame
	missing     int      // those of them that it has not answered
	fresh       []handed // what is in its next one
	frame       uint64   // that it has not answered, 0: none
	again       Instant  // when to push it once more
	tries       int      // pushes of it
	unheard     []uint64 // those frames of which it is not known that nobody was there to hear them
	serial      uint64   // of the last assignment
	sent        uint64   // of the last one that was pushed
	unreachable bool     // messages do not reach it, as far as is known
	silent      Instant  // since when it owes an answer and has given none
	paused      Instant  // it has rejected something: nothing new until then
	refused     int      // rejections in a row

	stops  []stop
	repeat Instant // when to tell the first of them once more
}

// takesNew reports whether a worker may be given anything at all.
func (w *worker) takesNew() bool { return w.mayTake() && !w.unreachable }

// mayTake is takesNew of a worker, whether messages reach it or not.
func (w *worker) mayTake() bool { return w.works && !w.draining && !w.drained }

func (w *worker) room() int { return w.slots - w.load }

// idle reports whether a worker may be given something now. It has one frame at most that it has
// not answered: what comes meanwhile goes together.
func (w *worker) idle(s *Scheduler) bool {
	return w.takesNew() && w.frame == 0 && w.paused <= s.now && w.room() > 0 && w.reserved != s.round &&
		!s.isolates(w, s.now) && len(w.fresh) < maxPerFrame
}

// stop is an attempt that a worker is to end, told again until it has answered or its session is
// dead.
type stop struct {
	id      string
	attempt Attempt
	serial  uint64
	status  Status
	next    Instant
	sends   int // times, at most maxSends
}

const (
	maxSends = 2    // after so many times a stop is told as seldom as it ever is: every 2² times of an answer
	maxStops = 8192 // of a worker, as much as it holds, see maxHeld: of more, the oldest are not told any more
)

func (e Members) apply(s *Scheduler) {
	s.carried = true
	for i := range e.List {
		m := &e.List[i]
		w := s.workers[m.Session]
		if w == nil {
			if m.Described && !m.Works {
				continue
			}
			w = &worker{
				session: m.Session, instance: m.Instance, hash: hashOf(m.Instance), drained: s.drained[m.Instance],
				since: s.now,
			}
			if n := len(s.workerList); n > 0 {
				w.order = s.workerList[n-1].order + 1
			}
			s.workers[m.Session] = w
			s.workerList = append(s.workerList, w)
			w.unreachable = s.reach.Open(s.now, m.Instance, m.Session)
		}
		w.foreign, w.own = m.Described && !m.Works, m.Own
		works := m.Described && m.Works
		w.shares, w.heeds, w.unsure = m.Shares, m.Alone, w.unsure || m.Beside
		w.draining = w.draining || m.Draining // for good: the session is being closed
		build := cmp.Or(m.Build, "of "+m.Instance)
		if works != w.works || w.build != build || w.slots != m.Slots || !slices.Equal(w.kinds, m.Kinds) ||
			!maps.Equal(w.labels, m.Labels) {
			w.works, w.slots, w.kinds, w.labels, w.build = works, m.Slots, m.Kinds, m.Labels, build
			s.dirty = true
		}
	}
}

func (e Dead) apply(s *Scheduler) {
	w := s.workers[e.Session]
	if w == nil {
		return
	}
	delete(s.workers, e.Session)
	s.workerList = slices.DeleteFunc(s.workerList, func(o *worker) bool { return o == w })
	s.dirty = true
	lost := slices.Clone(w.held)
	byRevision(lost)
	ran := loss{id: e.Session, instance: w.instance, alone: !w.unsure}
	for _, t := range lost {
		switch {
		case t.phase == starting, t.phase == pushed && (e.Closed || t.run.serial > w.sent): // it has never begun
			s.release(t, rejected, nil)
		case e.Closed:
			s.release(t, released, nil)
		default:
			_, suspect := s.accused(t)
			ran.alone = ran.alone || suspect && t.run.alone && t.phase == running // it was taken as such
			ran.add(t, s.now.Sub(t.run.began), suspect)
		}
	}
	if !e.Closed {
		s.excuse(&ran, s.falls(w, &ran))
	}
	s.lose(&ran)
}

// assign gives a task to a worker.
func (s *Scheduler) assign(t *task, w *worker) {
	r := s.take(t)
	r.worker, r.began, r.answered, r.alone = w, s.now, false, w.heeds && s.isolated(t)
	r.slot, r.hasSlot = int32(len(w.held)), true
	w.held = append(w.held, t)
	w.load += t.class.weight
	if !r.alone {
		w.emptied = 0
	}
	s.try(w, t)
}

// unassign takes a task from its worker. Which one that was is not forgotten before the end of that
// is stored.
func (s *Scheduler) unassign(t *task) {
	r := t.run
	if r == nil || !r.hasSlot {
		return
	}
	w, n := r.worker, len(r.worker.held)-1
	w.held[r.slot] = w.held[n]
	w.held[r.slot].run.slot = r.slot
	w.held[n] = nil
	w.held = w.held[:n]
	w.load -= t.class.weight
	r.hasSlot = false
	if r.worker.group != 0 {
		s.tried(r.worker)
	}
	if t.phase == pushed {
		s.answeredBy(t)
	}
	s.vacate(t)
}

// answeredBy strikes a task from those that its worker has not answered.
func (s *Scheduler) answeredBy(t *task) {
	r := t.run
	if r.answered {
		return
	}
	r.answered = true
	if w := r.worker; r.serial <= w.sent {
		if w.missing--; w.missing == 0 {
			w.answered()
		}
	}
}

// answered makes a worker one that has answered everything.
func (w *worker) answered() {
	clear(w.open)
	w.open, w.missing, w.frame, w.tries, w.unheard = w.open[:0], 0, 0, 0, w.unheard[:0]
}

// accept notes that a worker runs what it was pushed.
func (s *Scheduler) accept(t *task) {
	if t.phase == pushed {
		r := t.run
		s.answeredBy(t)
		s.move(t, running)
		r.worker.refused = 0
		if r.alone {
			r.worker.shunned, r.worker.emptied = 0, 0
		}
		s.emit(Assigned{t.policy.Kind, r.worker.instance, r.began.Sub(t.since)})
	}
}

func (e Answered) apply(s *Scheduler) {
	w := s.workers[e.Session]
	if w == nil {
		return
	}
	for _, a := range e.Answers {
		if a.Verdict != Unsent { // which it has not said itself
			s.found(w, true)
		}
		t := s.tasks.get(a.ID)
		if t == nil || t.phase != pushed || t.run.worker != w || t.attempt != a.Attempt {
			continue
		}
		if a.Verdict == Accepted {
			s.accept(t)
			continue
		}
		s.emit(Rejected{t.policy.Kind, w.instance, a.Verdict})
		if !a.Verdict.final() || a.Verdict == Unsent && (e.Frame != w.frame || w.tries > 1) {
			continue // an earlier frame may have been sent, and accepted
		}
		if a.Verdict == Unsent { // not the worker's fault: the others go first
			s.putOff(t)
			continue
		}
		if a.Verdict == Busy && t.run.alone {
			w.shun(s.now)
		}
		s.release(t, rejected, nil)
		s.pause(w, a.Verdict)
	}
	w.silent = s.now
	if e.Frame == w.frame && w.missing > 0 { // it has not answered all of it: once more
		w.again = min(w.again, s.now.Add(s.cfg.AnswerTime/8))
	}
}

// putOff makes a task wait that could not be sent.
func (s *Scheduler) putOff(t *task) {
	if s.mustNote(t) {
		s.again(t, Retry{Wait: retryCap}, rejected, Outcome{}, nil)
		return
	}
	s.release(t, rejected, nil)
	if t.phase.queued() {
		s.unqueue(t)
		s.postpone(t, s.clock.Now.Add(retryCap))
	}
}

// pause keeps a worker that rejects from being asked again at once.
func (s *Scheduler) pause(w *worker, v Verdict) {
	if v == Draining {
		w.draining = true
	}
	wait := min(5*time.Millisecond<<min(w.refused, 8), time.Second)
	w.paused = s.now.Add(wait)
	w.refused++
}

// stop tells a worker to end an attempt that leads to nothing any more.
func (s *Scheduler) stop(w *worker, x stop) {
	if len(w.stops) >= maxStops {
		w.stops = slices.Delete(w.stops, 0, maxStops/4) // many at once: to move the others takes long
	}
	x.next, w.repeat, w.unsure = s.now, s.now, true
	w.stops = append(w.stops, x)
}

func (e Stopped) apply(s *Scheduler) {
	if w := s.workers[e.Session]; w != nil {
		s.found(w, false)
		w.stops = slices.DeleteFunc(w.stops, func(x stop) bool { return x.id == e.ID && x.attempt == e.Attempt })
	}
}

// tendWorkers says again what was not answered.
func (s *Scheduler) tendWorkers() {
	for _, w := range s.workerList {
		if len(w.stops) > 0 && w.repeat <= s.now {
			s.tellStops(w)
		}
		if w.missing > 0 && w.again <= s.now {
			s.push(w)
		}
		if s.mustSync(w) && w.asked <= s.now {
			if w.asked == 0 {
				w.silent = s.now
			}
			w.asked = s.now.Add(s.cfg.AnswerTime)
			s.emit(Sync{w.session, w.instance, s.epoch})
		}
		if s.owes(w) && w.silent.Add(s.cfg.Silence) <= s.now {
			w.silent = s.now
			s.lost(w)
			s.emit(Unanswered{w.session, w.instance})
		}
		if w.unreachable {
			s.seek(w)
		}
	}
}

// owes reports whether a worker is to answer, and may be ended if it does not. Not to have answered
// is never taken for having nothing.
func (s *Scheduler) owes(w *worker) bool {
	return s.cfg.Silence > 0 && !w.own && (w.missing > 0 || s.mustSync(w) && w.asked > 0)
}

// tellStops tells a worker what it is to end, ever more seldom: one that does not answer may be cut
// off for a long time, and keep its session all the same.
func (s *Scheduler) tellStops(w *worker) {
	w.repeat = never
	for i := range w.stops {
		x := &w.stops[i]
		if x.next <= s.now {
			x.next = s.now.Add(s.cfg.AnswerTime << x.sends)
			x.sends = min(x.sends+1, maxSends)
			s.emit(Stop{w.session, w.instance, s.epoch, s.cfg.Epoch, x.id, x.attempt, x.serial, x.status})
		}
		w.repeat = min(w.repeat, x.next)
	}
}

// due is when a worker wants a Tick.
func (w *worker) due(s *Scheduler) Instant {
	next := never
	if len(w.stops) > 0 {
		next = w.repeat
	}
	if w.missing > 0 {
		next = min(next, w.again)
	}
	if s.mustSync(w) {
		next = min(next, w.asked)
	}
	if s.owes(w) {
		next = min(next, w.silent.Add(s.cfg.Silence))
	}
	if w.unreachable {
		next = min(next, s.reach.Due(w.instance, w.session))
	}
	if s.count[waiting] == 0 {
		return next
	}
	for _, until := range [...]Instant{w.paused, w.trial, w.shuns, w.spared} {
		if until > s.now {
			next = min(next, until)
		}
	}
	return next
}
