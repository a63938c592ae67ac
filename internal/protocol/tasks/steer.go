package tasks

import (
	"maps"
	"slices"
)

// Requests of others are in the stream: they hold under every leader, and wait while nobody leads.

func (e CancelAsked) apply(s *Scheduler) {
	if e.Gone {
		delete(s.cancels, e.ID)
		return
	}
	s.cancels[e.ID] = e.Revision
	t := s.tasks.get(e.ID)
	switch {
	case t != nil && t.revision < e.Revision:
		if t.phase != ending {
			s.abort(t, StatusCancelled, CauseCancelled)
		}
	case s.settled && s.pointless(e.ID): // it has ended before this came, or never was
		s.dropCancel(e.ID)
	}
}

// dropCancel removes a request that has been met, or never can be. Its own revision is the
// condition: another one may have come meanwhile, about another task of the same id.
func (s *Scheduler) dropCancel(id string) {
	if revision, stands := s.cancels[id]; stands {
		delete(s.cancels, id)
		s.send(&write{kind: eraseWrite, what: CancelRecord, id: id, expect: revision})
	}
}

// tidyCancels removes requests that can never be met.
func (s *Scheduler) tidyCancels() {
	for _, id := range slices.Sorted(maps.Keys(s.cancels)) {
		if s.pointless(id) {
			s.dropCancel(id)
		}
	}
}

// pointless reports whether a request is about a task that is not open, or was submitted after it.
func (s *Scheduler) pointless(id string) bool {
	revision, open := s.stands(id)
	return !open || s.cancels[id] < revision
}

func (e PauseSeen) apply(s *Scheduler) {
	if e.Paused {
		s.paused[e.Kind] = true
	} else {
		delete(s.paused, e.Kind)
	}
	if k := s.kinds[e.Kind]; k != nil {
		k.paused = e.Paused
		if e.Paused {
			s.takeBack(func(t *task) bool { return t.class.kind == k })
		}
	}
}

func (e DrainSeen) apply(s *Scheduler) {
	if e.Draining {
		s.drained[e.Instance] = true
	} else {
		delete(s.drained, e.Instance)
	}
	for _, w := range s.workerList {
		if w.instance == e.Instance {
			w.drained = e.Draining
		}
	}
	if e.Draining {
		s.takeBack(func(t *task) bool { return t.run.worker.drained })
	}
}

// takeBack lets what was given to workers and has not left us wait again, where the answer is yes.
func (s *Scheduler) takeBack(from func(t *task) bool) {
	for _, w := range s.workerList {
		for _, h := range slices.Clone(w.fresh) {
			if h.unanswered(w) && from(h.t) {
				s.release(h.t, rejected, nil)
			}
		}
	}
}
