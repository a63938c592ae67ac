package tasks

import (
	"maps"
	"slices"
)

// unique is the record of a unique key: clients write it together with the submission, which is refused when somebody else
// has the key. A scheduler only frees it after the task has ended, and clients do without: so nothing depends on when.
//
// Invariant: it is freed at the revision at which it names a task that has ended. A client that gives the key to another
// task, or to this one anew, writes it again: then the revision is another one, and nothing is freed.
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

// holdUnique lets the books hold one copy of a task's id.
func (s *Scheduler) holdUnique(t *task) {
	if t.keys != nil && t.keys.Unique != "" {
		if u, ok := s.uniques[t.keys.Unique]; ok && u.task == t.id {
			s.uniques[t.keys.Unique] = unique{u.revision, t.id}
		}
	}
}

// freeUnique frees the key of a task that has ended. Its record is the one before its submission: a later one is of the next
// task of this id, whose submission is about to come.
func (s *Scheduler) freeUnique(t *task) {
	if t.keys == nil || t.keys.Unique == "" {
		return
	}
	if u := s.uniques[t.keys.Unique]; u.task == t.id && u.revision < t.revision && s.tasks[t.id] == nil {
		s.free(t.keys.Unique)
	}
}

func (s *Scheduler) free(key string) {
	s.send(&write{kind: freeWrite, id: key, expect: s.uniques[key].revision})
	delete(s.uniques, key)
}

// tidyUniques frees the keys of tasks that have ended before. The record comes before its task's in the stream, so it is not
// looked at before all has been read.
func (s *Scheduler) tidyUniques() {
	for _, key := range slices.Sorted(maps.Keys(s.uniques)) {
		if _, open := s.stands(s.uniques[key].task); !open {
			s.free(key)
		}
	}
}
