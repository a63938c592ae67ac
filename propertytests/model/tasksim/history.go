package tasksim

import "github.com/rolemanager/rolemanager/internal/protocol/tasks"

// history is what the present note of a task says about earlier attempts of the submission at
// revision. A note before it is of a task that had the id before.
func (l *lead) history(id string, revision uint64, noted bool) []tasks.Outcome {
	if n, ok := l.w.store.record("t." + id).(noteOf); ok && noted && l.w.store.last["t."+id] > revision {
		return n.failed
	}
	return nil
}

// inForce reports whether a write under this seal would be stored now. The writes of a deposed
// scheduler need not make sense.
func (l *lead) inForce(guard uint64) bool { return l.w.store.last[sealSubject] == guard }

// noteOf is a note as the driver writes it: it continues the one before.
func (l *lead) noteOf(e *tasks.WriteNote) noteOf {
	n := noteOf{Retry: e.Retry}
	for _, o := range l.history(e.ID, e.Revision, e.Noted) {
		if o.Attempt != e.Failed.Attempt { // else it is written once more
			n.failed = append(n.failed, o)
		}
	}
	if e.Failed.Attempt != (tasks.Attempt{}) {
		n.failed = append(n.failed, e.Failed)
	}
	failed, lost := counts(n.failed)
	believed := l.inForce(e.Guard) && !l.w.revived(life{e.ID, e.Revision})
	if believed && (failed != e.Retry.Failures || lost < e.Retry.Crashes) {
		l.w.fail("the note of %s counts %d failures and %d losses, and tells of %d and %d", e.ID, e.Retry.Failures,
			e.Retry.Crashes, failed, lost)
	}
	return n
}

// checkHistory: a dead task tells of every attempt that has failed, and is kept for as long as it
// is to be.
func (l *lead) checkHistory(e *tasks.WriteOutcome) {
	w := l.w
	if w.Retention > 0 {
		if want := w.keeps(e.ID, e.Outcome.Status); e.Retention != want {
			w.fail("%s is %s and kept for %v: it is to be kept for %v", e.ID, e.Outcome.Status, e.Retention, want)
		}
	}
	if !l.inForce(e.Guard) || w.revived(life{e.ID, e.Revision}) {
		return
	}
	failed, lost := counts(l.history(e.ID, e.Revision, e.Noted))
	switch e.Outcome.Cause {
	case tasks.CauseMaxAttempts:
		if failed+1 < maxAttempts {
			w.fail("%s is dead after %d failures, and tells of %d", e.ID, maxAttempts, failed+1)
		}
	case tasks.CauseWorkerLost:
		if lost+1 < w.budget() {
			w.fail("%s is dead after %d losses, and tells of %d", e.ID, w.budget(), lost+1)
		}
	}
}

// counts are how many of these attempts have failed, and were lost with their worker.
func counts(history []tasks.Outcome) (failed, lost int) {
	for _, o := range history {
		switch o.Cause {
		case tasks.CauseFailed:
			failed++
		case tasks.CauseWorkerLost:
			lost++
		}
	}
	return failed, lost
}
