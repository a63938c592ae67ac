package tasks

import "slices"

// dispatch hands out what waits, kind by kind in turn, each to the least loaded worker that takes it.
func (s *Scheduler) dispatch() {
	if s.dirty {
		s.dirty = false
		for _, k := range s.turn {
			k.workers = k.workers[:0]
			for _, w := range s.line {
				if w.works && slices.Contains(w.kinds, k.name) {
					k.workers = append(k.workers, w)
				}
			}
		}
	}
	for _, k := range s.turn {
		for t := k.peek(); t != nil; t = k.peek() {
			w := pick(k.workers, s.now)
			if w == nil {
				break
			}
			k.pop()
			s.assign(t, w)
		}
	}
	if len(s.turn) > 1 { // another one is first the next time
		s.turn = append(s.turn[1:], s.turn[0])
	}
	for _, w := range s.line {
		if len(w.fresh) > 0 {
			w.open, w.fresh = append(w.open, w.fresh...), w.fresh[:0]
			s.push(w)
		}
	}
}

// pick chooses the worker for a task among those that take its kind, nil when none has room. A worker has one frame that
// it has not answered at most: what comes meanwhile goes together.
func pick(all []*worker, now Instant) *worker {
	var best *worker
	for _, w := range all {
		if w.draining || w.deaf || w.frame != 0 || w.paused > now || len(w.held) >= w.slots || len(w.fresh) >= maxPerFrame {
			continue
		}
		if best == nil || len(w.held)*best.slots < len(best.held)*w.slots {
			best = w
		}
	}
	return best
}

// assign gives a task to a worker under a new attempt.
func (s *Scheduler) assign(t *task, w *worker) {
	s.queued--
	s.held++
	if t.attempt.Epoch != s.epoch {
		t.attempt = Attempt{Epoch: s.epoch}
	}
	t.attempt.N++
	w.serial++
	t.worker, t.serial, t.state, t.answered, t.began = w, w.serial, pushed, false, s.now
	w.held[t] = struct{}{}
	w.fresh = append(w.fresh, t)
}

// push sends what a worker has not answered, in one frame.
func (s *Scheduler) push(w *worker) {
	s.last++
	w.frame = s.last
	w.tries++
	w.again = s.now.Add(s.cfg.AnswerTime << min(w.tries-1, 3))
	low := w.serial
	list := make([]Assignment, len(w.open))
	for i, t := range w.open {
		low = min(low, t.serial-1)
		a := Assignment{
			ID: t.id, Revision: t.revision, Attempt: t.attempt, Serial: t.serial, Try: t.tries() + 1, Policy: t.policy,
		}
		if t.deadline != never {
			a.Left = max(t.deadline.Sub(s.now), 1)
		}
		list[i] = a
	}
	s.emit(Push{w.session, w.instance, w.frame, s.epoch, s.cfg.Epoch, low, list})
}
