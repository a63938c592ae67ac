package tasks

import (
	"maps"
	"slices"
)

// unique is the record of a unique key: a client has written it after it has reserved the place of
// the task, at revision at, and then submits the task, see package unique. A scheduler only frees
// the key after the task has ended, and clients do without: so nothing depends on when.
//
// Invariant: it is freed at the revision at which it names a task that has ended, or that can never
// be stored. A client that gives the key to another task, or to this one again, writes the record
// again: then the revision is another one, and nothing is freed.
type unique struct {
	revision uint64
	task     string
	at       uint64
}

func (e UniqueSeen) apply(s *Scheduler) {
	if e.Task == "" {
		delete(s.uniques, e.Key)
		return
	}
	// A client has seen the outcome before, and not that the task was submitted over it: it comes
	// too late. A record without At was stored in one step with a submission.
	if t := s.tasks.get(e.Task); t != nil && t.uniqueAt > 0 && t.unique() == e.Key && 0 < e.At && e.At < t.revision {
		t.uniqueAt = e.Revision
		return
	}
	s.uniques[e.Key] = unique{e.Revision, e.Task, e.At}
}

// apply takes note of a reservation until all has been read. A task of its id that the state has
// has ended.
func (e Reserved) apply(s *Scheduler) {
	Settled{ID: e.ID, Revision: e.Revision, Keyed: true}.apply(s)
}

// holdUnique lets a task hold the record of its key, which was read before it. A record that is
// read later is of the next task that has the key: its submission is about to come.
func (s *Scheduler) holdUnique(t *task) {
	if key := t.unique(); key != "" && s.uniques[key].task == t.id() {
		t.uniqueAt = s.uniques[key].revision
		delete(s.uniques, key)
	}
}

// freeUnique frees the key of a task that has ended. When the next one has it that would be
// refused.
func (s *Scheduler) freeUnique(t *task) {
	if _, next := s.uniques[t.unique()]; t.uniqueAt > 0 && !next {
		s.free(t.unique(), t.uniqueAt)
	}
}

func (s *Scheduler) free(key string, revision uint64) {
	s.send(&write{kind: freeWrite, id: key, expect: revision})
}

// tidyUniques frees the keys of tasks that have ended before, or never came. The record comes
// before its task's in the stream, so it is not looked at before all has been read.
//
// Invariant: a submission that is still to come finds its reservation in the stream, or the outcome
// of the task that is submitted again, where the reading has shown it. The key of such a task
// stays: its client, or the next one that wants the key, or the next scheduler deals with it. So
// does a key that was taken after the first of our two seals: there the submission may have taken
// the place of the reservation before the reading came to it, and stand behind the second seal.
func (s *Scheduler) tidyUniques() {
	for _, key := range slices.Sorted(maps.Keys(s.uniques)) {
		u := s.uniques[key]
		_, open := s.stands(u.task)
		if at, reserved := s.places[u.task]; open || reserved && at == u.at || u.revision > s.seal.former {
			continue
		}
		s.free(key, u.revision)
		delete(s.uniques, key)
	}
	s.places = nil
}
