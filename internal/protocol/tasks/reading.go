package tasks

func (e Submitted) apply(s *Scheduler) {
	t := s.tasks[e.ID]
	if t != nil && t.revision >= e.Revision {
		return
	}
	if t != nil { // the record was removed by hand, and submitted again
		s.forget(t)
	}
	s.open(e)
}

func (e Settled) apply(s *Scheduler) {
	t := s.tasks[e.ID]
	if t == nil || e.Revision < t.revision {
		return
	}
	if t.state == writing && t.write.kind == outcomeWrite {
		s.stored(t.write)
		return
	}
	s.forget(t)
}

// forget drops a task that has ended without us.
func (s *Scheduler) forget(t *task) {
	if t.worker != nil && (t.state == pushed || t.state == running) {
		s.stop(t.worker, t.id, t.attempt, t.serial)
	}
	if t.state == writing {
		delete(s.writes, t.write.number)
		for _, ref := range t.write.refs {
			s.emit(Settle{Ref: ref, Stale: true})
		}
	}
	s.close(t)
}

func (e Noted) apply(s *Scheduler) {
	t := s.tasks[e.ID]
	switch {
	case e.Gone || t != nil && e.Revision < t.revision:
	case t == nil:
		s.erase(e.ID) // its task has ended
	case t.state == writing && t.write.kind == noteWrite && t.write.retry.Attempt == e.Retry.Attempt:
		s.stored(t.write)
	case !s.ready && e.Retry.Attempt.Compare(t.floor) > 0: // of an earlier scheduler
		t.failures, t.crashes, t.snoozes = uint16(e.Retry.Failures), uint16(e.Retry.Crashes), uint16(e.Retry.Snoozes)
		t.floor, t.noted = e.Retry.Attempt, true
		if t.attempt.Compare(t.floor) < 0 {
			t.attempt = t.floor
		}
		if e.Retry.Wait > 0 && t.state == waiting {
			s.unqueue(t)
			s.postpone(t, s.now.Add(e.Retry.Wait))
		}
	}
}
