package tasks

import (
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

func (e Submitted) apply(s *Scheduler) {
	if revision, open := s.stands(e.ID); open && revision >= e.Revision {
		return
	}
	before, _ := s.unveil(e.ID, e.Revision)
	delete(s.places, e.ID)
	if t := s.tasks.get(e.ID); t != nil { // it has ended, and was submitted again
		s.forget(t)
		before.noted, before.saved = t.noted, t.saved
		if e.Keys == nil || e.Keys.Unique != t.unique() {
			s.freeUnique(t)
		}
	}
	delete(s.aborted, e.ID)
	t := s.open(&e)
	t.noted, t.saved = before.noted, before.saved
}

func (e Settled) apply(s *Scheduler) {
	s.remind(e)
	if delete(s.places, e.ID); e.Keyed && !s.settled {
		s.places[e.ID] = e.Revision
	}
	if o, was := s.unveil(e.ID, e.Revision); was {
		s.eraseOf(e.ID, o.noted, o.saved)
		s.dropCancel(e.ID)
	}
	t := s.tasks.get(e.ID)
	if t != nil && e.Revision < t.revision {
		return
	}
	if t != nil && t.phase == ending && t.run.write.guard != 0 {
		s.stored(&t.run.write, e.Revision)
	} else if t != nil { // another scheduler has ended it
		s.forget(t)
		s.ending(t)
	}
	if !s.unreadable(e.ID) {
		s.keeps(&e)
	}
	s.tellGroup(e.ID, fateOf(e.Status), e.Of)
}

func (e Bundled) apply(s *Scheduler) { s.bundles.Stands(e.Name, e.Revision, e.Indexes) }

func (e MembersEnded) apply(s *Scheduler) {
	for _, id := range s.bundles.Told(e.Name, e.Of, e.Ended) {
		s.memberEnded(id, e.Of)
	}
}

func (e BundleGone) apply(s *Scheduler) {
	of, ids := s.bundles.Gone(e.Name, e.Revision)
	for _, id := range ids {
		s.memberEnded(id, of)
	}
}

func (EndsUnknown) apply(s *Scheduler) { s.renew() }

// memberEnded takes note that a member of a bundle has ended. Its outcome may have left.
func (s *Scheduler) memberEnded(id string, of uint64) {
	if revision, open := s.stands(id); open && revision == of {
		Settled{ID: id, Revision: of}.apply(s)
	}
}

// member says of which bundle the submission of a task is.
func (s *Scheduler) member(t *task) (bundles.Member, bool) { return s.bundles.Of(t.id(), t.revision) }

// InBundle reports whether the submission of a task at a revision is in a bundle that stands.
func (s *Scheduler) InBundle(id string, revision uint64) bool {
	_, within := s.bundles.Of(id, revision)
	return within
}

// Bundles is what is to be stored in one step with the outcomes of these members.
func (s *Scheduler) Bundles(of []bundles.Member) []bundles.Record { return s.bundles.With(of) }

const maxAborted = 1 << 16 // bounds what is kept only to tell handlers why they are stopped: of more, the latest

// remind keeps, until the state is complete, what was cancelled or has expired before: a worker
// that still runs it is to hear that.
func (s *Scheduler) remind(e Settled) {
	switch {
	case s.ready:
		return
	case e.Status != StatusCancelled && e.Status != StatusExpired:
		delete(s.aborted, e.ID)
		return
	case s.aborted == nil || len(s.aborted) >= maxAborted:
		s.aborted = map[string]Settled{}
	}
	s.aborted[e.ID] = e
}

// forget drops a task that has ended without us.
func (s *Scheduler) forget(t *task) {
	if t.phase == pushed || t.phase == running {
		s.stop(t.run.worker, stop{id: t.id(), attempt: t.attempt, serial: t.run.serial})
	}
	if t.run != nil {
		s.dropSaving(t)
		s.settle(&t.run.write, true)
	}
	s.close(t)
}

// ending removes what belongs to a task that has ended: the records that say nothing any more.
func (s *Scheduler) ending(t *task) {
	s.eraseOf(t.id(), t.noted, t.saved)
	s.dropCancel(t.id())
	s.freeUnique(t)
}

func (s *Scheduler) eraseOf(id string, noted, saved bool) {
	if noted {
		s.erase(NoteRecord, id)
	}
	if saved {
		s.erase(CheckpointRecord, id)
	}
}

func (e Noted) apply(s *Scheduler) {
	t := s.tasks.get(e.ID)
	if !e.Stored.IsZero() {
		s.clock.Observe(s.clock.Instant(e.Stored))
	}
	switch {
	case e.Gone:
	case t == nil && s.remember(e.ID, true, false):
		s.recallAlone(e)
	case t == nil:
		s.erase(NoteRecord, e.ID) // its task has ended
	case e.Revision < t.revision: // of a task that had this id before
		t.noted = true
	case t.phase == noting && t.run.write.retry.Attempt == e.Retry.Attempt && t.run.write.guard != 0:
		s.stored(&t.run.write, e.Revision)
		s.waitSince(t, &e)
	case t.phase == starting && t.run.write.retry.Started == e.Retry.Started && t.run.write.guard != 0:
		s.stored(&t.run.write, e.Revision)
	case !s.ready: // of an earlier scheduler
		s.recall(t, e.Retry, s.storedAt(&e))
	default: // ours, or of the submission before, whose outcome was gone when its last attempt was noted
		t.noted = true
		s.waitSince(t, &e)
	}
}

// storedAt is when a note was stored.
func (s *Scheduler) storedAt(e *Noted) Instant {
	if e.Stored.IsZero() {
		return s.clock.Now
	}
	return s.clock.Instant(e.Stored)
}

// waitSince has the wait before a task's next attempt count from when its note was stored, as it
// would for a later scheduler.
func (s *Scheduler) waitSince(t *task, e *Noted) {
	if t.phase == delayed && t.attempt == e.Retry.Attempt && e.Retry.Wait > 0 && !e.Stored.IsZero() {
		s.delayed.Remove(t)
		s.postpone(t, s.clock.Instant(e.Stored).Add(e.Retry.Wait))
	}
}

// recall takes over what an earlier scheduler has noted at since.
func (s *Scheduler) recall(t *task, r Retry, since Instant) {
	t.noted = true
	if t.phase == blocked && (!r.Attempt.IsZero() || !r.Started.IsZero()) { // it was handed out before
		s.unblock(t)
	}
	delete(s.begun, t.id())
	if !r.Started.IsZero() {
		s.begun[t.id()] = begun{r.Started, r.Session, since, r.Alone}
	}
	if r.Attempt.Compare(t.attempt) <= 0 {
		return
	}
	t.attempt = r.Attempt
	t.failures, t.crashes, t.snoozes = clip(r.Failures), clip(r.Crashes), clip(r.Snoozes)
	s.recallSuspicion(t, r)
	// Before our seal has told the time it is not known what is due.
	if due := since.Add(r.Wait); r.Wait > 0 && (due > s.clock.Now || !s.settled) && t.phase.queued() {
		s.unqueue(t)
		s.postpone(t, due)
	}
}

func clip(n int) uint16 { return uint16(min(max(n, 0), 1<<16-1)) }

// opaque is an open task that cannot be read here: a later version of this program has submitted
// it. It is not handed out, cancelled or ended, and what belongs to it (note, checkpoint, unique
// key, the request to cancel it) stays as it is, for the first scheduler that can read it. A worker
// that runs it continues, and reports until that one leads.
type opaque struct {
	revision     uint64
	noted, saved bool // it has such a record

	alone uint64  // the session of the worker that its note says it runs alone on, 0: of none
	until Instant // as long as that is believed, by the stream's clock
}

func (e Opaque) apply(s *Scheduler) {
	if revision, open := s.stands(e.ID); open && revision >= e.Revision {
		return
	}
	o := s.opaque[e.ID]
	o.revision, o.alone = e.Revision, 0   // a note of the submission before says nothing about this one
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
