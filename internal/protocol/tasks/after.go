package tasks

import (
	"maps"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// A task may wait for others. It is handed out after all of them have succeeded, or have ended
// where it says so. It ends as skipped if that cannot be any more.
//
// The outcome of a task stays in the stream until the last open task that names it has ended, and
// only then its retention begins. So nothing about dependencies has to be noted: each scheduler
// finds them in the submissions, and the ends of them in the outcomes.
//
// Invariant: a task is let go only by an outcome that stands in the stream and is known to stay. A
// task that was handed out once is not held back again, whatever becomes of what it has waited for.

// KeepOutcome asks that the outcome of a task stay, since an open one that was submitted at
// revision After names it. Kept or Absent follows.
//
// ReleaseOutcome says that no open task names a task any more: the retention of its outcome begins.
type (
	KeepOutcome struct {
		ID    string
		After uint64
	}
	ReleaseOutcome struct{ ID string }
)

func (KeepOutcome) effect()    {}
func (ReleaseOutcome) effect() {}

type (
	// Kept says that the outcome of a task stays.
	Kept struct {
		ID     string
		Status Status
	}

	// Absent says that there was neither a submission nor an outcome of a task, after all that
	// KeepOutcome has named.
	Absent struct{ ID string }
)

// block makes a task wait for others.
func (s *Scheduler) block(t *task, a *groups.After) {
	s.move(t, blocked)
	if a.Group > 0 {
		s.beginGroup(t, a.Group)
		return
	}
	circular := s.edges.Later(t.id())
	s.edges.Add(t.id(), a)
	s.judgeAll(circular)
	for _, up := range a.IDs {
		if !s.edges.Known(up) {
			s.inquire(up, t.revision)
		}
	}
	s.judge(t.id())
}

// inquire finds out about a task that is waited for and not open.
func (s *Scheduler) inquire(up string, after uint64) {
	if _, open := s.stands(up); s.settled && !open {
		s.emit(KeepOutcome{up, after})
	}
}

// judge lets a task go that waits no longer, and ends one that never will run.
func (s *Scheduler) judge(id string) {
	t := s.tasks.get(id)
	if !s.settled || t == nil || t.phase != blocked {
		return
	}
	switch s.edges.Judge(id) {
	case groups.Run:
		s.unblock(t)
	case groups.Skip:
		s.abort(t, StatusSkipped, CauseUpstream)
	}
}

// unblock makes a task wait for a worker, or for its time.
func (s *Scheduler) unblock(t *task) {
	if t.due > s.clock.Now {
		s.postpone(t, t.due)
		return
	}
	if s.settled { // else it was handed out before, and the clock is not told
		t.due = s.clock.Now
	}
	s.enqueue(t)
}

func (e Kept) apply(s *Scheduler) {
	if _, open := s.stands(e.ID); open { // submitted again since
		return
	}
	end := groups.Otherwise
	if e.Status == StatusSucceeded {
		end = groups.Succeeded
	}
	s.judgeAll(s.edges.Set(e.ID, end))
	if !s.edges.Needed(e.ID) {
		s.emit(ReleaseOutcome{e.ID})
	}
}

func (e Absent) apply(s *Scheduler) {
	if _, open := s.stands(e.ID); !open {
		s.judgeAll(s.edges.Set(e.ID, groups.Missing))
	}
}

func (s *Scheduler) judgeAll(list []string) {
	for _, id := range list {
		s.judge(id)
	}
}

// keeps looks at an outcome that the stream has shown, of a task that is not open: what is needed
// must stay, and what is kept for nobody any more must not.
func (s *Scheduler) keeps(e *Settled) {
	switch needed := s.edges.Needed(e.ID); {
	case !s.settled && e.Kept:
		s.stays[e.ID] = e.Status
	case !s.settled:
		delete(s.stays, e.ID)
	case needed && e.Kept:
		Kept{e.ID, e.Status}.apply(s)
	case needed:
		s.inquire(e.ID, e.Revision)
	case e.Kept:
		s.emit(ReleaseOutcome{e.ID})
	}
}

// missed looks for the outcome of a task that has ended, which may leave before the stream shows
// it.
func (s *Scheduler) missed(id string) {
	if s.edges.Needed(id) {
		s.inquire(id, s.seal.valid)
	}
}

// leave ends the dependencies of a task that leaves the state.
func (s *Scheduler) leave(t *task) {
	s.left = append(s.left, s.edges.Remove(t.id())...)
	s.endGroup(t)
}

// releaseFree releases, at the end of a step, what no open task names: a task that was submitted
// again may name the same ones.
func (s *Scheduler) releaseFree() {
	for _, up := range s.left {
		if _, open := s.stands(up); s.settled && !open && !s.edges.Needed(up) {
			s.emit(ReleaseOutcome{up})
		}
	}
	s.left = s.left[:0]
}

// tidyEdges begins when all that there is has been read: then a task that is not open has ended, or
// is unknown.
func (s *Scheduler) tidyEdges() {
	for _, id := range slices.Sorted(maps.Keys(s.stays)) {
		Kept{id, s.stays[id]}.apply(s)
	}
	s.stays = nil
	for _, up := range s.edges.Open() {
		s.inquire(up, s.seal.valid)
	}
	for id := range s.edges.Waiting() {
		s.judge(id)
	}
}
