package tasks

import "time"

// apply takes what a worker reports of an attempt. Only the current worker,
// session and attempt count.
func (e Done) apply(s *Scheduler) {
	if !s.ready {
		if len(s.early) >= maxEarly*(len(s.workers)+1) {
			return // it is reported again
		}
		s.early[held{e.Session, e.ID, e.Attempt}] = e // bounded by what the workers hold
		return
	}
	t := s.tasks.get(e.ID)
	switch {
	case s.unreadable(e.ID): // a scheduler that can read it answers
	case t == nil:
		s.stale(e.Ref, "", "settled")
	case s.workers[e.Session] == nil: // it has been counted as lost, or as given back
		s.stale(e.Ref, t.policy.Kind, "session")
	case (t.phase == noting || t.phase == ending) && t.attempt == e.Attempt && t.run.worker != nil &&
		t.run.worker.session == e.Session:
		if t.run.write.number == 0 {
			s.emit(Settle{Ref: e.Ref})
		} else { // told twice before it was stored
			t.run.write.waits(e.Ref)
		}
	case !t.with(e.Session, e.Attempt):
		s.stale(e.Ref, t.policy.Kind, "attempt")
	default:
		s.accept(t)
		s.conclude(t, &e)
	}
}

// with reports whether a session has an attempt of a task.
func (t *task) with(session uint64, a Attempt) bool {
	return (t.phase == pushed || t.phase == running) && t.run.worker.session == session && t.attempt == a
}

func (s *Scheduler) stale(ref any, kind, reason string) {
	s.emit(Stale{Kind: kind, Reason: reason})
	s.emit(Settle{Ref: ref, Stale: true})
}

// conclude decides what an attempt's result means for its task.
func (s *Scheduler) conclude(t *task, e *Done) {
	r := &e.Result
	out := Outcome{
		Attempt: t.attempt, Tries: t.tries() + 1, Instance: t.run.worker.instance, Ran: r.Ran, Body: r.Body,
	}
	if r.Verb != Released {
		s.clear(t)
	}
	switch r.Verb {
	case Succeeded:
		out.Status = StatusSucceeded
		s.finish(t, &out, e.Ref)
	case Permanent:
		out.Status, out.Cause = StatusDead, CausePermanent
		s.finish(t, &out, e.Ref)
	case Released:
		t.run.worker.draining = true
		s.release(t, released, e.Ref)
	// its worker has counted the deadline down, and is ahead of the stream's clock by less than the
	// clocks differ
	case Overdue:
		if t.deadline == never { // a worker that says so has failed
			s.fail(t, &out, e)
			return
		}
		out.Status, out.Cause, out.Body = StatusExpired, CauseDeadline, nil
		s.expired++
		s.finish(t, &out, e.Ref)
	case Undecodable:
		s.misfit(t, &out, e)
	case Snoozed:
		s.again(t, Retry{Snoozes: 1, Wait: bounded(r.Delay)}, "snoozed", Outcome{}, e.Ref)
	default:
		s.fail(t, &out, e)
	}
}

// fail counts a failure: there is another attempt, or the task is dead.
func (s *Scheduler) fail(t *task, out *Outcome, e *Done) {
	if int(t.failures)+1 >= t.policy.MaxAttempts {
		out.Status, out.Cause = StatusDead, CauseMaxAttempts
		s.finish(t, out, e.Ref)
		return
	}
	delay := bounded(e.Result.Delay)
	if delay <= 0 {
		delay = t.policy.backoff(int(t.failures)+1, s.cfg.Rand)
	}
	out.Cause = CauseFailed
	s.again(t, Retry{Failures: 1, Wait: delay}, CauseFailed, *out, e.Ref)
}

// release makes a task wait again that somebody gives back, uncounted. Its note and its checkpoint
// are stored first: the note of its beginning is not true any more, and the next attempt gets the
// checkpoint.
func (s *Scheduler) release(t *task, cause string, ref any) {
	if s.mustNote(t) {
		s.again(t, Retry{}, cause, Outcome{}, ref)
		return
	}
	s.unassign(t)
	s.putAway(t)
	s.reclass(t)
	s.enqueue(t)
	s.reassigned(t, cause)
	if ref != nil {
		s.emit(Settle{Ref: ref})
	}
}

// mustNote reports whether an attempt has left something behind.
func (s *Scheduler) mustNote(t *task) bool {
	return s.begun[t.id()].attempt == t.attempt || t.run.saving != nil
}

func (s *Scheduler) reassigned(t *task, cause string) {
	if cause != rejected {
		s.emit(Reassigned{t.policy.Kind, cause})
	}
}

// bounded is a wait that a handler has asked for, as far as it can be waited for.
func bounded(delay int64) time.Duration {
	const most = 10 * 365 * 24 * time.Hour
	return min(max(time.Duration(delay), 0), most)
}

// Causes of a release: rejected when there was no attempt at all, released when its worker has
// given it back, or has left, undecodable when it could not decode the input.
const (
	rejected    = ""
	released    = "released"
	undecodable = "undecodable"
)

// again makes a task run once more after a while; more is what to add to its note, and failed the
// attempt that counts, if one does. The note is stored first: a later scheduler must not adopt what
// has ended.
func (s *Scheduler) again(t *task, more Retry, cause string, failed Outcome, ref any) {
	t.failures = clip(int(t.failures) + more.Failures)
	t.crashes = clip(int(t.crashes) + more.Crashes)
	t.snoozes = clip(int(t.snoozes) + more.Snoozes)
	s.reassigned(t, cause)
	w := s.write(t, noting, ref)
	w.kind, w.retry, w.outcome = noteWrite, t.note(), failed
	w.retry = s.against(t, w.retry)
	w.retry.Wait = more.Wait
	s.send(w)
}

// note is what a later attempt must know.
func (t *task) note() Retry {
	return Retry{Attempt: t.attempt, Failures: int(t.failures), Crashes: int(t.crashes), Snoozes: int(t.snoozes)}
}

// finish stores the outcome of a task.
func (s *Scheduler) finish(t *task, out *Outcome, ref any) {
	s.dropSaving(t)
	w := s.write(t, ending, ref)
	w.kind, w.outcome = outcomeWrite, *out
	s.send(w)
}

// write begins to store what becomes of a task; its worker is free meanwhile, but the task
// remembers which it was.
func (s *Scheduler) write(t *task, to taskPhase, ref any) *write {
	s.unqueue(t)
	r := s.take(t)
	if r.worker != nil && s.begun[t.id()].alone {
		r.worker.last = held{r.worker.session, t.id(), t.attempt}
	}
	s.unassign(t)
	s.move(t, to)
	if r.write.number != 0 {
		delete(s.writes, r.write.number)
	}
	r.write = write{t: t, noted: t.noted}
	r.write.waits(ref)
	return &r.write
}

// noted continues after a note is stored, and every checkpoint that was made before it.
func (s *Scheduler) noted(t *task) {
	t.noted = true
	delete(s.begun, t.id())
	if t.run.saving != nil {
		return
	}
	wait := t.run.write.retry.Wait
	s.putAway(t)
	s.reclass(t)
	if wait > 0 {
		s.postpone(t, s.clock.Latest(s.now).Add(wait)) // until the note is read: it says from when
	} else {
		s.enqueue(t)
	}
}

// ended takes a task out of the state after its outcome is stored.
func (s *Scheduler) ended(t *task, out *Outcome) {
	s.emit(Completed{t.policy.Kind, *out})
	s.tellEnded(t, out)
	s.tellGroup(t.id(), fateOf(out.Status), t.revision)
	s.close(t)
	s.ending(t)
}

// expire ends a task whose deadline has passed.
func (s *Scheduler) expire(t *task) {
	switch {
	case t.phase == ending:
	case s.unclosed(t):
		s.abort(t, StatusCancelled, CauseUnclosed)
	default:
		s.expired++
		s.abort(t, StatusExpired, CauseDeadline)
	}
}

// abort ends a task whatever it is doing. It is terminal at once: what its worker still reports is
// stale.
func (s *Scheduler) abort(t *task, status Status, cause string) {
	out := Outcome{Status: status, Cause: cause, Attempt: t.attempt, Tries: t.tries()}
	if t.phase == pushed || t.phase == running {
		out.Tries++
		out.Instance, out.Ran = t.run.worker.instance, int64(s.now.Sub(t.run.began))
		s.stop(t.run.worker, stop{id: t.id(), attempt: t.attempt, serial: t.run.serial, status: status})
	}
	if t.phase == starting || t.phase == noting { // it may still land, and is erased with the outcome
		s.settle(&t.run.write, false)
		t.noted = true
	}
	s.finish(t, &out, nil)
	t.run.worker = nil // nobody's report is the cause of it
}

// CauseUnstorable is the cause of a task whose outcome the server does not take.
const CauseUnstorable = "unstorable"

// Unstorable says that a write is not stored and, as it is, never will be: the server has looked at
// it and does not take it. Body says why, for clients that ask what became of the task.
//
// A task that has ended must not be run again because its end cannot be said: it ends with what can
// be stored. A checkpoint is given up, as if it had never been made. Any other record stays wanted,
// and is written again under the next seal: it is as small as a record can be, so nothing of that
// kind is stored before somebody has changed the stream.
type Unstorable struct {
	Write uint64
	Body  any
}

func (e Unstorable) apply(s *Scheduler) {
	w := s.writes[e.Write]
	switch {
	case w == nil:
	case w.kind == outcomeWrite && w.outcome.replaceable():
		o := &w.outcome
		o.Status, o.Cause, o.Body = StatusDead, CauseUnstorable, e.Body
		s.send(w)
	case w.kind == tallyWrite:
		s.abort(s.tasks.get(w.id), StatusDead, CauseUnstorable)
	case w.kind == checkpointWrite:
		delete(s.writes, w.number)
		w.number = 0
		s.giveUp(w)
	}
}

// replaceable reports whether an outcome says more than that it cannot be stored: an output, or an
// error.
func (o *Outcome) replaceable() bool {
	return o.Cause != CauseUnstorable && (o.Status == StatusSucceeded || o.Status == StatusDead)
}
