package tasks

import (
	"cmp"
	"maps"
	"slices"
)

// mustSync reports whether a worker has to answer before anything is handed out: a member of a
// session from before our epoch, whose record names this namespace or is not known. Nobody but us
// hands anything to a member that joined later: an earlier scheduler sees our record of the role
// first, and learns of no member from then on.
func (s *Scheduler) mustSync(w *worker) bool {
	return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch
}

// Awaited are workers for whose answer everything waits, at most so many of them.
func (s *Scheduler) Awaited(most int) (instances []string) {
	for _, w := range s.workerList {
		if s.mustSync(w) && len(instances) < most {
			instances = append(instances, w.instance)
		}
	}
	return instances
}

func (e Synced) apply(s *Scheduler) {
	w := s.workers[e.Session]
	if w == nil {
		return
	}
	s.found(w, false)
	if s.ready || w.synced {
		return
	}
	w.synced, w.claims, w.unsure = true, e.Held, w.unsure || e.Beside > 0
}

// apply takes what a worker says by the bucket for its answer. That proves nothing about messages:
// they miss it, or its answers are lost, so it is given nothing before it has answered one.
func (e Told) apply(s *Scheduler) {
	w := s.workers[e.Session]
	if w == nil || e.Epoch < s.cfg.Epoch || !s.mustSync(w) {
		return
	}
	w.synced, w.claims, w.unsure = true, e.Held, w.unsure || e.Beside > 0
	s.lost(w)
}

// becomeReady completes the state when (a) the stream has been read up to our own seal, (b) the
// watch has carried every member from before our epoch, and (c) each of those has answered or is
// dead. Not one task is handed out before.
func (s *Scheduler) becomeReady() {
	if s.ready || s.seal.valid == 0 || !s.carried {
		return
	}
	for _, w := range s.workerList {
		if s.mustSync(w) {
			return
		}
	}
	s.ready, s.readyAt = true, s.now
	adopted := 0
	for _, w := range s.workerList {
		for _, h := range w.claims {
			if s.adopt(w, h) {
				adopted++
			}
		}
		w.claims = nil
	}
	s.countBegun()
	s.emit(Ready{Open: s.tasks.len(), Adopted: adopted})
	for _, key := range slices.SortedFunc(maps.Keys(s.hints), held.compare) {
		s.hints[key].apply(s)
	}
	for _, key := range slices.SortedFunc(maps.Keys(s.early), held.compare) {
		s.early[key].apply(s)
	}
	s.early, s.hints, s.aborted = nil, nil, nil
}

// endOf is how the task of an attempt has ended, or is about to, without its worker: cancelled or
// expired, "" for anything else. An outcome in the stream does not name the submission that it has
// replaced, but the attempt that was current.
func (s *Scheduler) endOf(h Held) Status {
	if t := s.tasks.get(h.ID); t != nil && t.revision == h.Revision {
		return t.aborting()
	}
	if last := s.aborted[h.ID]; last.Attempt == h.Attempt {
		return last.Status
	}
	return ""
}

// adopt takes over what an earlier scheduler has handed out: the largest attempt that anybody
// holds, and only if it is larger than the last one that is known to have ended, and of this
// submission.
func (s *Scheduler) adopt(w *worker, h Held) bool {
	if s.unreadable(h.ID) { // a scheduler that can read it adopts it
		w.unsure = true
		return false
	}
	t := s.tasks.get(h.ID)
	if t == nil || t.revision != h.Revision || h.Attempt.Compare(t.attempt) <= 0 ||
		!t.phase.queued() && t.phase != running {
		s.stop(w, stop{id: h.ID, attempt: h.Attempt, status: s.endOf(h)})
		return false
	}
	if t.phase == running {
		s.stop(t.run.worker, stop{id: t.id(), attempt: t.attempt})
		s.unassign(t)
	}
	s.occupy(t)
	s.unqueue(t)
	t.attempt = h.Attempt
	s.assign(t, w)
	t.run.serial, t.run.answered, t.run.alone = 0, true, false
	if t.phase != running {
		s.move(t, running)
	}
	return true
}

// held names what one worker holds of one task.
type held struct {
	session uint64
	id      string
	attempt Attempt
}

func (h held) compare(o held) int {
	return cmp.Or(cmp.Compare(h.session, o.session), cmp.Compare(h.id, o.id), h.attempt.Compare(o.attempt))
}
