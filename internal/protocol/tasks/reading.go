package tasks

func (e Submitted) apply(s *Scheduler) {
	t := s.tasks[e.ID]
	if t != nil && t.revision >= e.Revision {
		return
	}
	if t == nil {
		s.open(&e)
		return
	}
	s.forget(t) // it has ended, and was submitted again
	noted, saved := t.noted, t.saved
	t = s.open(&e)
	t.noted, t.saved = noted, saved
}

func (e Settled) apply(s *Scheduler) {
	t := s.tasks[e.ID]
	if t == nil || e.Revision < t.revision {
		return
	}
	if t.phase == ending && t.run.write.guard != 0 {
		s.stored(&t.run.write, e.Revision)
		return
	}
	s.forget(t) // another scheduler has ended it
	s.ending(t)
}

// forget drops a task that has ended without us.
func (s *Scheduler) forget(t *task) {
	if t.phase == pushed || t.phase == running {
		s.stop(t.run.worker, t.id, t.attempt, t.run.serial)
	}
	if t.run != nil {
		s.dropSaving(t)
		s.settle(&t.run.write, true)
	}
	s.close(t)
}

// ending removes what belongs to a task that has ended: the records that say nothing any more.
func (s *Scheduler) ending(t *task) {
	if t.noted {
		s.erase(NoteRecord, t.id)
	}
	if t.saved {
		s.erase(CheckpointRecord, t.id)
	}
	s.dropCancel(t.id)
	s.freeUnique(t)
}

func (e Noted) apply(s *Scheduler) {
	t := s.tasks[e.ID]
	switch {
	case e.Gone:
	case t == nil:
		s.erase(NoteRecord, e.ID) // its task has ended
	case e.Revision < t.revision: // of a task that had this id before
		t.noted = true
	case t.phase == noting && t.run.write.retry.Attempt == e.Retry.Attempt && t.run.write.guard != 0:
		s.stored(&t.run.write, e.Revision)
	case t.phase == starting && t.run.write.retry.Started == e.Retry.Started && t.run.write.guard != 0:
		s.stored(&t.run.write, e.Revision)
	case !s.ready: // of an earlier scheduler
		s.recall(t, e.Retry)
	}
}

// recall takes over what an earlier scheduler has noted.
func (s *Scheduler) recall(t *task, r Retry) {
	t.noted = true
	delete(s.begun, t.id)
	if !r.Started.IsZero() {
		s.begun[t.id] = r.Started
	}
	if r.Attempt.Compare(t.attempt) <= 0 {
		return
	}
	t.attempt = r.Attempt
	t.failures, t.crashes, t.snoozes = clip(r.Failures), clip(r.Crashes), clip(r.Snoozes)
	if r.Wait > 0 && (t.phase == waiting || t.phase == aside || t.phase == delayed) {
		s.unqueue(t)
		s.postpone(t, s.now.Add(r.Wait))
	}
}

func clip(n int) uint16 { return uint16(min(max(n, 0), 1<<16-1)) }
