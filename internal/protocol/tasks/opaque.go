package tasks

import "github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"

// opaque is an open task that cannot be read here: a later version of this program has submitted
// it. It is not handed out, cancelled or ended, and what belongs to it (note, checkpoint, unique
// key, the request to cancel it) stays as it is, for the first scheduler that can read it. A worker
// that runs it continues, and reports until that one leads.
type opaque struct {
	revision     uint64
	noted, saved bool // it has such a record
}

func (e Opaque) apply(s *Scheduler) {
	if revision, open := s.stands(e.ID); open && revision >= e.Revision {
		return
	}
	o := s.opaque[e.ID]
	o.revision = e.Revision
	if t := s.tasks.get(e.ID); t != nil { // it has ended, and was submitted again
		s.forget(t)
		o.noted, o.saved = t.noted, t.saved
	}
	s.opaque[e.ID] = o
	s.instances.Add(e.ID)
	s.tellGroup(e.ID, groups.Open, e.Revision)
}

// stands reports whether a task is open, and at which revision its submission stands.
func (s *Scheduler) stands(id string) (revision uint64, open bool) {
	if t := s.tasks.get(id); t != nil {
		return t.revision, true
	}
	o, open := s.opaque[id]
	return o.revision, open
}

// unreadable reports whether a task is open and cannot be read.
func (s *Scheduler) unreadable(id string) bool {
	_, is := s.opaque[id]
	return is
}

// remember takes down that a task that cannot be read has records; false when there is no such
// task.
func (s *Scheduler) remember(id string, noted, saved bool) bool {
	o, is := s.opaque[id]
	if is {
		o.noted, o.saved = o.noted || noted, o.saved || saved
		s.opaque[id] = o
	}
	return is
}

// unveil drops a task that could not be read: another submission, or its outcome, has taken its
// place.
func (s *Scheduler) unveil(id string, revision uint64) (o opaque, was bool) {
	o, was = s.opaque[id]
	if !was || revision < o.revision {
		return opaque{}, false
	}
	delete(s.opaque, id)
	s.freeTicks(id)
	return o, true
}
