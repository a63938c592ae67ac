package tasks

import (
	"maps"
	"slices"
)

// A task that takes down the process of its worker is counted by the scheduler, until it is dead. When that is the
// scheduler's own process there is nobody left to count. So while a scheduler finds that the one before it has not ended in
// peace, it notes what it is about to give to itself of that one's tasks: whoever finds that note, and nobody who has the
// task, counts for it. That costs one more write for a task that has seen a scheduler crash, and nothing for all others.

// suspect reports whether a task may have been what the scheduler before us died of.
func (s *Scheduler) suspect(t *task) bool { return t.revision < s.before }

// prepare notes an attempt before it begins. former is the one before it, which has ended.
func (s *Scheduler) prepare(t *task, former Attempt) {
	s.move(t, starting)
	r := t.run
	r.write = write{kind: startWrite, t: t, retry: t.note()}
	r.write.retry.Attempt, r.write.retry.Started = former, t.attempt
	t.noted = true
	s.begun[t.id] = t.attempt
	s.send(&r.write)
}

// started goes on after that is stored.
func (s *Scheduler) started(t *task) {
	if t.lane.kind.paused || !t.run.worker.takesNew() {
		s.release(t, rejected, nil)
		return
	}
	s.present(t)
}

// count looks, once the books are complete, at the attempts that were about to begin at earlier schedulers: what nobody has
// now was lost with its worker.
func (s *Scheduler) countBegun() {
	for _, id := range slices.Sorted(maps.Keys(s.begun)) {
		t, a := s.tasks[id], s.begun[id]
		switch {
		case t == nil || t.attempt.Compare(a) > 0:
			delete(s.begun, id)
		case t.phase.queued():
			t.attempt = a
			s.lose(t, "")
		}
	}
}
