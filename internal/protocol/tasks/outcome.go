package tasks

import "time"

// apply takes what a worker reports of an attempt. Only the worker, the session and the attempt on the books count.
func (e Done) apply(s *Scheduler) {
	if !s.ready {
		s.early[held{e.Session, Held{ID: e.ID, Attempt: e.Attempt}}] = e // bounded by what the workers hold
		return
	}
	t := s.tasks[e.ID]
	switch {
	case t == nil:
		s.stale(e, "", "settled")
	case t.state == writing && t.attempt == e.Attempt && t.worker != nil && t.worker.session == e.Session:
		t.write.refs = append(t.write.refs, e.Ref) // told twice before it was stored
	case t.state != pushed && t.state != running || t.worker.session != e.Session || t.attempt != e.Attempt:
		s.stale(e, t.kind.name, "attempt")
	default:
		s.accept(t)
		s.conclude(t, e)
	}
}

func (s *Scheduler) stale(e Done, kind, reason string) {
	s.emit(Stale{Kind: kind, Reason: reason})
	s.emit(Settle{Ref: e.Ref, Stale: true})
}

// conclude decides what an attempt's result means for its task.
func (s *Scheduler) conclude(t *task, e Done) {
	r := e.Result
	out := Outcome{
		Attempt: t.attempt, Tries: t.tries() + 1, Instance: t.worker.instance, Ran: r.Ran, Body: r.Body,
	}
	switch r.Verb {
	case Succeeded:
		out.Status = StatusSucceeded
		s.finish(t, out, e.Ref)
	case Permanent:
		out.Status, out.Cause = StatusDead, CausePermanent
		s.finish(t, out, e.Ref)
	case Released:
		t.worker.draining = true
		s.unassign(t)
		s.enqueue(t, true)
		s.emit(Reassigned{t.kind.name, "released"})
		s.emit(Settle{Ref: e.Ref})
	case Snoozed:
		s.again(t, 0, 0, 1, time.Duration(r.Delay), "snoozed", e.Ref)
	default:
		if int(t.failures)+1 >= t.policy.MaxAttempts {
			out.Status, out.Cause = StatusDead, CauseMaxAttempts
			s.finish(t, out, e.Ref)
			return
		}
		delay := time.Duration(r.Delay)
		if delay <= 0 {
			delay = t.policy.backoff(int(t.failures)+1, s.cfg.Rand)
		}
		s.again(t, 1, 0, 0, delay, "failed", e.Ref)
	}
}

// lose ends an attempt whose worker's session is dead.
func (s *Scheduler) lose(t *task) {
	if int(t.crashes)+1 >= s.cfg.CrashBudget {
		s.finish(t, Outcome{
			Status: StatusDead, Cause: CauseWorkerLost, Attempt: t.attempt, Tries: t.tries() + 1, Instance: t.worker.instance,
		}, nil)
		return
	}
	s.again(t, 0, 1, 0, 0, CauseWorkerLost, nil)
}

// again makes a task run once more after a while. The note is stored first: a later scheduler must not adopt what has ended.
func (s *Scheduler) again(t *task, failed, crashed, snoozed uint16, wait time.Duration, cause string, ref any) {
	t.failures, t.crashes, t.snoozes = t.failures+failed, t.crashes+crashed, t.snoozes+snoozed
	s.emit(Reassigned{t.kind.name, cause})
	s.write(t, &write{kind: noteWrite, t: t, retry: Retry{
		Attempt: t.attempt, Failures: int(t.failures), Crashes: int(t.crashes), Snoozes: int(t.snoozes), Wait: wait,
	}}, ref)
}

// finish stores the outcome of a task.
func (s *Scheduler) finish(t *task, out Outcome, ref any) {
	s.write(t, &write{kind: outcomeWrite, t: t, outcome: out}, ref)
}

// write begins to store what becomes of a task; its worker is free meanwhile, but the task remembers which it was.
func (s *Scheduler) write(t *task, w *write, ref any) {
	s.unqueue(t)
	last := t.worker
	s.unassign(t)
	t.worker = last
	t.state, t.write = writing, w
	if ref != nil {
		w.refs = append(w.refs, ref)
	}
	s.send(w)
}

func (e CancelAsked) apply(s *Scheduler) {
	t := s.tasks[e.ID]
	switch {
	case t == nil: // not read yet, not submitted, or settled: who asks looks again
	case t.state == writing && t.write.kind == outcomeWrite:
	default:
		s.abort(t, StatusCancelled, CauseCancelled, nil)
	}
}

func (e Saved) apply(s *Scheduler)      {}
func (e PauseSeen) apply(s *Scheduler)  {}
func (e DrainSeen) apply(s *Scheduler)  {}
func (e UniqueSeen) apply(s *Scheduler) {}
func (e Defined) apply(s *Scheduler)    {}
func (e Fired) apply(s *Scheduler)      {}
func (e Watched) apply(s *Scheduler)    {}
func (e Progressed) apply(s *Scheduler) { s.emit(Settle{Ref: e.Ref}) }

// expire ends a task whose deadline has passed.
func (s *Scheduler) expire(t *task) {
	if t.state == writing && t.write.kind == outcomeWrite {
		return
	}
	s.abort(t, StatusExpired, CauseDeadline, nil)
}

// abort ends a task whatever it is doing. It is terminal at once: what its worker still reports is stale.
func (s *Scheduler) abort(t *task, status Status, cause string, ref any) {
	if t.worker != nil && (t.state == pushed || t.state == running) {
		s.stop(t.worker, t.id, t.attempt, t.serial)
	}
	if t.state == writing { // a note: it may still land, and is erased with the outcome
		w := t.write
		delete(s.writes, w.number)
		for _, r := range w.refs {
			s.emit(Settle{Ref: r})
		}
		t.write, t.noted = nil, true
	}
	out := Outcome{Status: status, Cause: cause, Attempt: t.attempt, Tries: t.tries()}
	if t.state == pushed || t.state == running {
		out.Tries++
	}
	s.write(t, &write{kind: outcomeWrite, t: t, outcome: out}, ref)
	t.worker = nil // nobody's report is the cause of it
}
