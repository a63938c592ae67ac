package tasks

// A search of tasks has to pass these states.
const (
	deposedScheduler = iota // two schedulers are at it: the earlier one does not know
	adoptable               // a task runs on, and its scheduler's term is over
	staleFrame              // tasks of an earlier scheduler are on their way to a worker
	lateReport              // how an attempt has ended is on its way, and a later one has begun
)

// Landmarks are the names of these.
func (*Model) Landmarks() []string {
	return []string{
		"with a deposed scheduler that continues", "with a task that outlives its scheduler",
		"with a frame of an earlier scheduler",
		"with a late report",
	}
}

// At says which of them a world has.
func (x *Model) At(w World) (at uint32) {
	schedulers := 0
	for _, l := range w.leaders[:w.terms] {
		if l.s != nil {
			schedulers++
		}
	}
	if schedulers > 1 {
		at |= 1 << deposedScheduler
	}
	began := w.ledger.began()
	for _, m := range w.members {
		for _, r := range m.runs[:x.cfg.Tasks] {
			if r.live && r.attempt.Epoch < began {
				at |= 1 << adoptable
			}
		}
	}
	for _, m := range w.net.list {
		switch {
		case m.kind == pushes && int(m.leader) < w.terms-1:
			at |= 1 << staleFrame
		case m.kind == reports && m.attempt.Compare(w.ledger.largest[m.task]) < 0:
			at |= 1 << lateReport
		}
	}
	return at
}

// began is the first epoch of the present term: the later ones are its rotations.
func (l *history) began() (epoch uint64) {
	session := uint64(0)
	for _, f := range l.log {
		if f.kind == roleFact && f.session != session {
			epoch, session = f.revision, f.session
		}
	}
	return epoch
}
