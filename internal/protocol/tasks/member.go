package tasks

import (
	"slices"
	"time"
)

// worker is a live session that takes tasks, on the books.
type worker struct {
	session  uint64
	instance string
	works    bool // its record names this namespace
	draining bool // it takes nothing new any more
	slots    int
	kinds    []string
	foreign  bool // neither does its record name this namespace, nor is it unknown whether it will

	synced bool
	asked  Instant // when to ask it again what it holds
	claims []Held  // what it has answered, until the books are complete

	held    map[*task]struct{} // what is assigned to it
	open    []*task            // those of them in the frame that it has not answered
	fresh   []*task            // those of them to be pushed at the end of this step
	frame   uint64             // that it has not answered, 0: none
	again   Instant            // when to push what is open once more
	tries   int                // pushes of it
	serial  uint64             // of the last assignment
	deaf    bool               // nobody listens there
	paused  Instant            // it has rejected something: nothing new until then
	refused int                // rejections in a row

	stops []stop
}

// stop is an attempt that a worker is to end, told again until it has answered.
type stop struct {
	id      string
	attempt Attempt
	serial  uint64
	next    Instant
	told    int
}

const maxStops = 16 // times that a worker is told to end one attempt

func (e Members) apply(s *Scheduler) {
	s.carried = true
	for _, m := range e.List {
		w := s.workers[m.Session]
		if w == nil {
			if m.Described && !m.Works {
				continue
			}
			w = &worker{session: m.Session, instance: m.Instance, held: map[*task]struct{}{}}
			s.workers[m.Session] = w
			s.line = append(s.line, w)
		}
		w.foreign = m.Described && !m.Works
		works := m.Described && m.Works
		w.draining = w.draining || m.Draining // for good: the session is being closed
		if works != w.works || w.slots != m.Slots || !slices.Equal(w.kinds, m.Kinds) {
			w.works, w.slots, w.kinds = works, m.Slots, m.Kinds
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
	s.line = slices.DeleteFunc(s.line, func(o *worker) bool { return o == w })
	s.dirty = true
	lost := make([]*task, 0, len(w.held))
	for t := range w.held {
		lost = append(lost, t)
	}
	slices.SortFunc(lost, func(a, b *task) int { return int(int64(a.revision) - int64(b.revision)) })
	unheard := w.deaf && w.tries == 1
	for _, t := range lost {
		if t.state == pushed && unheard { // nobody has ever got it
			s.unassign(t)
			s.enqueue(t, true)
			continue
		}
		s.lose(t)
	}
}

// unassign takes a task from its worker.
func (s *Scheduler) unassign(t *task) {
	w := t.worker
	if w == nil {
		return
	}
	if _, held := w.held[t]; held {
		delete(w.held, t)
		s.held--
		if !t.answered {
			s.answeredBy(w, t)
		}
	}
	t.worker = nil
}

// answeredBy strikes a task from those that a worker has not answered.
func (s *Scheduler) answeredBy(w *worker, t *task) {
	t.answered = true
	if i := slices.Index(w.open, t); i >= 0 {
		w.open = slices.Delete(w.open, i, i+1)
	}
	if i := slices.Index(w.fresh, t); i >= 0 {
		w.fresh = slices.Delete(w.fresh, i, i+1)
	}
	if len(w.open) == 0 {
		w.frame, w.tries, w.deaf = 0, 0, false
	}
}

// accept notes that a worker runs what it was pushed.
func (s *Scheduler) accept(t *task) {
	if t.state == pushed {
		t.state = running
		s.answeredBy(t.worker, t)
		t.worker.refused = 0
		s.emit(Given{t.kind.name, t.worker.instance, t.began.Sub(t.due)})
	}
}

func (e Answered) apply(s *Scheduler) {
	w := s.workers[e.Session]
	if w == nil {
		return
	}
	for _, a := range e.Answers {
		t := s.tasks[a.ID]
		if t == nil || t.worker != w || t.attempt != a.Attempt || t.state != pushed {
			continue
		}
		if a.Verdict == Accepted {
			s.accept(t)
			continue
		}
		s.emit(Rejected{t.kind.name, w.instance, a.Verdict})
		if !a.Verdict.final() {
			continue
		}
		s.unassign(t)
		s.enqueue(t, true)
		s.pause(w, a.Verdict)
	}
	if e.Frame == w.frame && len(w.open) > 0 { // it has not answered all of it: once more
		w.again = min(w.again, s.now.Add(s.cfg.AnswerTime/8))
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

// apply stops assigning to a worker that does not listen. Its tasks stay its own until its session is dead.
func (e Unheard) apply(s *Scheduler) {
	if w := s.workers[e.Session]; w != nil && w.frame == e.Frame && e.Frame != 0 {
		w.deaf = true
	}
}

// stop tells a worker to end an attempt that leads to nothing any more.
func (s *Scheduler) stop(w *worker, id string, a Attempt, serial uint64) {
	w.stops = append(w.stops, stop{id: id, attempt: a, serial: serial})
}

func (e Stopped) apply(s *Scheduler) {
	if w := s.workers[e.Session]; w != nil {
		w.stops = slices.DeleteFunc(w.stops, func(x stop) bool { return x.id == e.ID && x.attempt == e.Attempt })
	}
}

// tendWorkers says again what was not answered.
func (s *Scheduler) tendWorkers() {
	for _, w := range s.line {
		w.stops = slices.DeleteFunc(w.stops, func(x stop) bool { return x.told >= maxStops })
		for i := range w.stops {
			x := &w.stops[i]
			if x.next <= s.now {
				x.told++
				x.next = s.now.Add(s.cfg.AnswerTime)
				s.emit(Stop{w.session, w.instance, s.epoch, s.cfg.Epoch, x.id, x.attempt, x.serial})
			}
		}
		if len(w.open) > 0 && w.again <= s.now {
			s.push(w)
		}
		if s.mustSync(w) && w.asked <= s.now {
			w.asked = s.now.Add(s.cfg.AnswerTime)
			s.emit(Sync{w.session, w.instance, s.epoch})
		}
	}
}

// due is when a worker wants a Tick.
func (w *worker) due(s *Scheduler) Instant {
	next := never
	for i := range w.stops {
		next = min(next, w.stops[i].next)
	}
	if len(w.open) > 0 {
		next = min(next, w.again)
	}
	if s.mustSync(w) {
		next = min(next, w.asked)
	}
	if w.paused > s.now && s.queued > 0 {
		next = min(next, w.paused)
	}
	return next
}
