package tasks

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
