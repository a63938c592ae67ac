package tasks

import (
	"maps"
	"slices"
)

// unique is the record of a unique key: clients write it together with the submission, which is
// refused when somebody else has the key. A scheduler only frees it after the task has ended, and
// clients do without: so nothing depends on when.
//
// Invariant: it is freed at the revision at which it names a task that has ended. A client that
// gives the key to another task, or to this one again, writes the record again: then the revision
// is another one, and nothing is freed.
type unique struct {
	revision uint64
	task     string
}

func (e UniqueSeen) apply(s *Scheduler) {
	if e.Task == "" {
		delete(s.uniques, e.Key)
		return
	}
	s.uniques[e.Key] = unique{e.Revision, e.Task}
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

// tidyUniques frees the keys of tasks that have ended before. The record comes before its task's in
// the stream, so it is not looked at before all has been read.
func (s *Scheduler) tidyUniques() {
	for _, key := range slices.Sorted(maps.Keys(s.uniques)) {
		u := s.uniques[key]
		if _, open := s.stands(u.task); !open {
			s.free(key, u.revision)
			delete(s.uniques, key)
		}
	}
}
