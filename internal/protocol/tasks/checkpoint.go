package tasks

// apply takes how far an attempt is. A checkpoint is acknowledged when it, or a later one of the
// attempt, is stored.
//
// Invariant: checkpoints of one attempt are stored in the order in which they were made, whatever
// happens to the reports that bring them; and nothing makes the task run again before they are
// stored. So the next attempt gets the last one that was acknowledged, or a later one.
func (e Progressed) apply(s *Scheduler) {
	if !s.ready {
		key := held{e.Session, e.ID, e.Attempt}
		if _, known := s.hints[key]; !known && len(s.hints) >= maxEarly*(len(s.workers)+1) {
			return // it is reported again
		}
		if old := s.hints[key]; old.Checkpoint == nil || e.Checkpoint != nil && e.Ran >= old.Ran {
			s.hints[key] = e // the others are reported again
		}
		return
	}
	t := s.tasks.get(e.ID)
	switch {
	case s.unreadable(e.ID): // a scheduler that can read it answers
		return
	case t == nil:
		s.stale(e.Ref, "", "settled")
		return
	case !t.with(e.Session, e.Attempt):
		s.stale(e.Ref, t.policy.Kind, "attempt")
		return
	}
	s.accept(t)
	r := t.run
	if e.Ran > r.said {
		r.said, r.progress = e.Ran, e.Fraction
		s.notice(t)
	}
	switch {
	case e.Checkpoint == nil:
		s.emit(Settle{Ref: e.Ref})
	case e.Ran <= r.kept && r.saving != nil: // told twice, or overtaken by a later one
		if w := r.saving; w.next != nil && e.Ran > w.ran {
			w.next.waits(e.Ref)
		} else {
			w.waits(e.Ref)
		}
	case e.Ran <= r.kept:
		s.emit(Settle{Ref: e.Ref})
	default:
		s.save(t, &e)
	}
}

// save stores a checkpoint. One write of a task is under way at a time: two under the same seal
// could be stored in either order when the connection changes between them. Of the checkpoints that
// come meanwhile, only the last one is written, after it.
func (s *Scheduler) save(t *task, e *Progressed) {
	r := t.run
	w := &write{kind: checkpointWrite, t: t, data: e.Checkpoint, ran: e.Ran, retry: Retry{Attempt: t.attempt}}
	r.kept, t.saved = e.Ran, true
	old := r.saving
	switch {
	case old != nil && old.guard != 0: // it was sent
		if n := old.next; n != nil { // a call that waits for that is content with a later one
			w.ref, w.refs = n.ref, n.refs
		}
		w.waits(e.Ref)
		old.next = w
		return
	case old != nil:
		delete(s.writes, old.number)
		w.ref, w.refs = old.ref, old.refs
	}
	w.waits(e.Ref)
	r.saving = w
	s.send(w)
}

// kept continues after a checkpoint is stored.
func (s *Scheduler) kept(w *write, revision uint64) {
	t := w.t
	t.checkpoint, t.run.stored = max(t.checkpoint, revision), w.ran
	s.afterSaving(w)
}

// giveUp continues after a checkpoint that is never stored, as if it had never been made: told once
// more, it is taken once more.
func (s *Scheduler) giveUp(w *write) {
	if r := w.t.run; r.kept == w.ran {
		r.kept = r.stored
	}
	s.settle(w, true)
	s.afterSaving(w)
}

func (s *Scheduler) afterSaving(w *write) {
	t := w.t
	if t.run.saving = w.next; w.next != nil {
		s.send(w.next)
		return
	}
	if t.phase == noting && t.run.write.number == 0 { // the note was first to be known
		s.noted(t)
	}
}

// dropSaving gives a checkpoint up: its task ends. It may still land, and is erased with the
// outcome.
func (s *Scheduler) dropSaving(t *task) {
	if t.run == nil || t.run.saving == nil {
		return
	}
	w := t.run.saving
	t.run.saving = nil
	delete(s.writes, w.number)
	s.settle(w, true)
	if w.next != nil {
		s.settle(w.next, true)
	}
}

func (e Saved) apply(s *Scheduler) {
	t := s.tasks.get(e.ID)
	switch {
	case t == nil && !e.Gone && s.remember(e.ID, false, true):
	case t == nil && !e.Gone:
		s.erase(CheckpointRecord, e.ID) // its task has ended
	case t == nil:
	case e.Gone: // it was of a task that had this id before, and came late: there is nothing to hand on
		if e.Revision > t.checkpoint {
			t.checkpoint = 0
		}
	case e.Revision < t.revision: // of a task that had this id before
		t.saved = true
	default:
		t.saved, t.checkpoint = true, max(t.checkpoint, e.Revision)
	}
}
