package tasks

import (
	"cmp"
	"maps"
	"slices"
)

// mustSync reports whether a worker has to answer before anything is handed out: a member of a session from before our
// epoch, whose record names this namespace or is not known. Who joined later had our epoch in view before.
func (s *Scheduler) mustSync(w *worker) bool {
	return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch
}

func (e Synced) apply(s *Scheduler) {
	w := s.workers[e.Session]
	if w == nil || s.ready || w.synced {
		return
	}
	w.synced, w.claims = true, e.Held
}

// becomeReady completes the books when (a) the stream has been read up to our own seal, (b) the watch has carried every
// member from before our epoch, and (c) each of those has answered or is dead. Not one task is handed out before.
func (s *Scheduler) becomeReady() {
	if s.ready || s.seal.valid == 0 || !s.carried {
		return
	}
	for _, w := range s.line {
		if s.mustSync(w) {
			return
		}
	}
	s.ready = true
	adopted := 0
	for _, w := range s.line {
		for _, h := range w.claims {
			if s.adopt(w, h) {
				adopted++
			}
		}
		w.claims = nil
	}
	s.emit(Ready{Open: len(s.tasks), Adopted: adopted})
	for _, key := range slices.SortedFunc(maps.Keys(s.early), held.compare) {
		s.early[key].apply(s)
	}
	s.early = nil
}

// adopt takes over what an earlier scheduler has handed out: the largest attempt that anybody holds, and only if it is
// larger than the last one that is known to have ended.
func (s *Scheduler) adopt(w *worker, h Held) bool {
	t := s.tasks[h.ID]
	switch {
	case t == nil || t.state == writing || h.Attempt.Compare(t.floor) <= 0:
		s.stop(w, h.ID, h.Attempt, 0)
		return false
	case t.worker != nil && h.Attempt.Compare(t.attempt) <= 0:
		s.stop(w, h.ID, h.Attempt, 0)
		return false
	}
	if t.worker != nil {
		s.stop(t.worker, t.id, t.attempt, 0)
		s.unassign(t)
	}
	s.unqueue(t)
	t.worker, t.attempt, t.state, t.serial, t.answered = w, h.Attempt, running, 0, true
	t.began = s.now
	w.held[t] = struct{}{}
	s.held++
	return true
}

// held is what one worker holds of one task.
type held struct {
	session uint64
	Held
}

func (h held) compare(o held) int {
	return cmp.Or(cmp.Compare(h.session, o.session), cmp.Compare(h.ID, o.ID), h.Attempt.Compare(o.Attempt))
}
