package tasks

import (
	"slices"
	"time"
)

// maxParked bounds how many tasks are parked in one round: with very many of one key it continues
// in the next.
const maxParked = 4096

// dispatch hands out what waits. Of all classes the one whose first task's turn is first goes
// first; where keys take turns, it is that of the kind whose key has its turn. A class whose first
// task cannot go is left out of the round.
func (s *Scheduler) dispatch() {
	s.round++
	s.wake = never
	if s.count[waiting]+s.count[parked] > 0 {
		s.handOut()
	}
	for _, w := range s.workerList {
		if len(w.fresh) > 0 && w.frame == 0 {
			s.push(w)
		}
	}
}

func (s *Scheduler) handOut() {
	s.findPools()
	for _, p := range s.pools.list {
		p.lead(s)
	}
	put := 0
	for s.heads.Len() > 0 && !s.over {
		t := s.heads.First().first(s)
		l, goes := t.class, true
		if t.deadline <= s.clock.Now { // with very many at once, the others follow when their outcomes are stored
			if goes = s.expired < maxExpired; goes {
				s.expiring.Remove(t)
				s.expire(t)
			}
		} else if key := t.limit(); key != "" && s.limits[key].full(t) {
			if put++; put > maxParked {
				s.wake = s.now
				break
			}
			s.park(t)
		} else {
			goes = s.hand(t)
		}
		if goes && l.offered > 0 {
			s.lead(l)
		} else {
			s.strike(l)
		}
	}
	for s.heads.Len() > 0 {
		s.strike(s.heads.First())
	}
}

// hand gives a task to a worker, if its kind may have one more with a worker and somebody has room.
func (s *Scheduler) hand(t *task) bool {
	k := t.class.kind
	if k.Concurrency > 0 && k.held() >= k.Concurrency {
		return false
	}
	if wait := k.wait(s.readyAt, s.now); wait > 0 {
		s.wake = min(s.wake, s.now.Add(wait))
		return false
	}
	w := s.choose(t)
	former := t.attempt
	if w == nil || !s.numbered(t) {
		return false
	}
	k.spend(s.now)
	if k.turns != nil {
		k.turns.Went(t.fair())
	}
	s.occupy(t) // before it leaves its class: nobody else is to take its place
	s.unqueue(t)
	s.assign(t, w)
	if w.own && s.mustPrepare(t) {
		s.prepare(t, former)
	} else {
		s.present(t)
	}
	return true
}

func (k *kind) held() int { return int(k.count[starting] + k.count[pushed] + k.count[running]) }

// present puts a task into its worker's next frame.
func (s *Scheduler) present(t *task) {
	w := t.run.worker
	w.serial++
	t.run.serial = w.serial
	s.move(t, pushed)
	w.fresh = append(w.fresh, handed{t, w.serial})
}

// handed is a task in a frame: it counts as long as its worker has it under this serial, and has
// not answered.
type handed struct {
	t      *task
	serial uint64
}

func (h *handed) unanswered(w *worker) bool {
	r := h.t.run
	return r != nil && r.worker == w && r.serial == h.serial && !r.answered && h.t.phase == pushed
}

// push sends what a worker has not answered, in one frame: what is new, or the same once more.
func (s *Scheduler) push(w *worker) {
	w.open = append(w.open, w.fresh...)
	clear(w.fresh)
	w.fresh = w.fresh[:0]
	open := w.open[:0]
	for i := range w.open {
		if w.open[i].unanswered(w) {
			open = append(open, w.open[i])
		}
	}
	clear(w.open[len(open):])
	w.open, w.missing = open, len(open)
	if len(open) == 0 {
		w.answered()
		return
	}
	s.last++
	w.frame = s.last
	w.unheard = append(w.unheard, w.frame)
	w.sent = w.serial
	if w.tries++; w.tries == 1 {
		w.silent = s.now
	}
	w.again = s.now.Add(s.cfg.AnswerTime << min(w.tries-1, 3))
	low := w.serial
	list := make([]Assignment, len(open))
	for i := range open {
		t := open[i].t
		low = min(low, open[i].serial-1)
		list[i] = Assignment{
			ID: t.id(), Revision: t.revision, Attempt: t.attempt, Serial: open[i].serial, Try: t.tries() + 1, Policy: t.policy,
			Checkpoint: t.checkpoint, Alone: t.run.alone,
		}
		if t.deadline != never {
			list[i].Left = max(t.deadline.Sub(s.clock.Now), time.Millisecond)
		}
	}
	s.emit(Assign{w.session, w.instance, w.frame, s.epoch, s.cfg.Epoch, low, list})
}

// apply stops assigning to a worker that does not listen. If none of the frames that it owes an
// answer to was delivered to anybody, it will never hear of what is in them, and that goes to
// others at once. Else its tasks stay its own until it has answered, or its session is dead.
func (e NoResponder) apply(s *Scheduler) {
	w := s.workers[e.Session]
	if w == nil {
		return
	}
	s.lost(w)
	if i := slices.Index(w.unheard, e.Frame); i >= 0 {
		if w.unheard = slices.Delete(w.unheard, i, i+1); len(w.unheard) == 0 {
			s.reclaim(w)
		}
	}
}

// reclaim takes everything from a worker that it was pushed in frames that nobody has heard.
func (s *Scheduler) reclaim(w *worker) {
	all := slices.Clone(w.held)
	byRevision(all)
	for _, t := range all {
		if t.phase == pushed {
			s.release(t, rejected, nil)
		}
	}
}

// lost notes that messages do not reach a worker: it is given nothing new until it has answered.
func (s *Scheduler) lost(w *worker) {
	s.reach.Lose(s.now, w.instance, w.session)
	if !w.unreachable {
		w.unreachable = true
		s.takeBack(func(t *task) bool { return t.run.worker == w })
	}
}

// found notes that a worker has answered; took says that it was a frame of tasks.
func (s *Scheduler) found(w *worker, took bool) {
	w.unreachable = false
	s.reach.Find(w.instance, w.session, took)
}

// seek asks a worker that messages do not reach whether it hears, and says that it does not.
func (s *Scheduler) seek(w *worker) {
	if s.reach.Ask(s.now, w.instance, w.session) && w.missing == 0 && !s.mustSync(w) {
		s.emit(Sync{w.session, w.instance, s.epoch})
	}
	if times, is := s.reach.Tell(s.now, w.instance, w.session); is {
		s.emit(Unreached{w.session, w.instance, len(w.held), times})
	}
}
