package tasks

import (
	"maps"
	"slices"
)

// A task that takes down the process of its worker is counted by the scheduler, until it is dead.
// When that is the scheduler's own process there is nobody left to count. So while a scheduler
// finds that the one before it has not ended in peace, it notes what it is about to give to itself
// of that one's tasks: a scheduler that finds that note, and no worker that has the task, counts
// for it, unless the worker lives: that one has refused it, or was never handed it. That costs one
// more write for a task that has seen a scheduler crash, and nothing for all others.
//
// Doubt ends with the task, not with the term: a scheduler that ends in peace leaves it to the next
// one, or a task could take down one scheduler uncounted after each that had not come to it.

// begun is an attempt that was noted before it began at a scheduler's own worker.
type begun struct {
	attempt Attempt
	session uint64  // of that worker, 0: not known
	since   Instant // when that was noted
	alone   bool    // it was isolated
}

// doubted reports whether a task may have been what a scheduler before us died of.
func (s *Scheduler) doubted(t *task) bool { return t.revision < s.before }

// Doubted is the revision below which open tasks are doubted, 0 when none is: what a seal says that
// ends the term in peace.
func (s *Scheduler) Doubted() uint64 {
	if s.before == 0 {
		return 0
	}
	for t := range s.tasks.all() {
		if s.doubted(t) {
			return s.before
		}
	}
	for _, o := range s.opaque {
		if o.revision < s.before {
			return s.before
		}
	}
	return 0
}

// mustPrepare reports whether a task is noted before it begins at the scheduler's own worker. As
// long as one is there that was, so is every other: else a later scheduler would take the first for
// the only one that can have taken the process down.
func (s *Scheduler) mustPrepare(t *task) bool {
	return s.doubted(t) || s.group(t) != 0 || len(s.begun) > 0
}

// prepare notes an attempt before it begins. former is the one before it, which has ended.
func (s *Scheduler) prepare(t *task, former Attempt) {
	s.move(t, starting)
	r := t.run
	r.write = write{kind: startWrite, t: t, retry: t.note(), noted: t.noted}
	r.write.retry = s.against(t, r.write.retry)
	r.write.retry.Attempt, r.write.retry.Started, r.write.retry.Session = former, t.attempt, r.worker.session
	r.write.retry.Alone = s.isolated(t) && !r.worker.unsure
	t.noted = true
	s.begun[t.id()] = begun{attempt: t.attempt, session: r.worker.session, alone: r.write.retry.Alone}
	s.send(&r.write)
}

// started continues after that is stored.
func (s *Scheduler) started(t *task) {
	if t.class.kind.paused || !t.run.worker.takesNew() {
		s.release(t, rejected, nil)
		return
	}
	s.present(t)
}

// countBegun looks, once the state is complete, at the attempts that were about to begin at
// earlier schedulers: what nobody has now was lost with its worker. But one of a term that has
// ended in peace has taken nobody down: it never came to begin, or was given back, and the term has
// ended before it could note that.
func (s *Scheduler) countBegun() {
	var lost loss
	for _, id := range slices.Sorted(maps.Keys(s.begun)) {
		t, b := s.tasks.get(id), s.begun[id]
		switch a := b.attempt; {
		case t == nil || t.attempt.Compare(a) > 0:
			delete(s.begun, id)
		case t.phase == ending: // it was cancelled, or has expired
			s.keepEmpty(id, b)
		case t.phase.queued():
			t.attempt = a
			if s.inPeace(a.Epoch) || s.lives(b.session) {
				s.keepEmpty(id, b)
				s.again(t, Retry{}, rejected, Outcome{}, nil)
				continue
			}
			ran, x := max(s.clock.Now.Sub(b.since), 0), s.suspects[id]
			lost.add(t, ran, x.group != 0)
			// others may have come beside it after its trial
			lost.id, lost.alone = max(lost.id, a.Epoch), b.alone && ran+ran/16 <= x.trial(s)
		}
	}
	s.lose(&lost)
	s.keepOpaqueAlone()
}

// keepEmpty has a worker be given nothing as long as a note says that an attempt runs there alone,
// which nobody has: what came there before that is stored would be lost beside it, and a later
// scheduler would take the attempt for what the worker has died of. See isolates.
func (s *Scheduler) keepEmpty(id string, b begun) {
	if w := s.workers[b.session]; w != nil && b.alone {
		w.last = held{b.session, id, b.attempt}
	}
}

// recallAlone takes down that the note of a task that cannot be read says that it runs alone.
func (s *Scheduler) recallAlone(e Noted) {
	o, r := s.opaque[e.ID], e.Retry
	if e.Revision < o.revision || s.ready { // of a task that had this id before, or about a term of ours
		return
	}
	x := suspicion{ran: r.Ran}
	if o.alone = 0; r.Alone {
		o.alone, o.until = r.Session, s.storedAt(&e).Add(x.trial(s))
	}
	s.opaque[e.ID] = o
}

// keepOpaqueAlone has a worker be given nothing as long as the note of a task that we cannot read
// is believed to say that it runs there alone: a later scheduler that can read it would take it
// for what the worker has died of. See countBegun.
func (s *Scheduler) keepOpaqueAlone() {
	for _, o := range s.opaque {
		if w := s.workers[o.alone]; w != nil {
			w.kept = max(w.kept, s.clock.Of(o.until))
			s.tried(w)
		}
	}
}

// inPeace reports whether the term of an epoch has ended in peace. The epoch may have been rotated
// in that term.
func (s *Scheduler) inPeace(epoch uint64) bool {
	return epoch == s.seal.rested || s.seal.since > 0 && epoch >= s.seal.since && epoch < s.seal.rested
}

// lives reports whether a worker that was there before us has said what it has: it was not taken
// down, and what it has not named it never had.
func (s *Scheduler) lives(session uint64) bool {
	w := s.workers[session]
	return w != nil && w.synced
}
