package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// standing is what the lease of a worker's session says: it is idle when the worker has had nothing
// to do for a while. To begin something it is written first.
type standing struct {
	worked time.Duration // when it last had something to do
	writes int           // how often it was written to begin something
	stands bool          // the process is gone: it stands as it is
	idle   bool          // then: so
}

// rest says since when the lease of a session is idle, if it is.
func (k *worker) rest() (since time.Duration, idle bool) {
	since = k.lease.worked + k.w.Lease/4
	if k.lease.stands {
		return since, k.lease.idle
	}
	leads := k.p.leadsOther || k.p.term != nil && k.p.term.session == k.session
	return since, !leads && len(k.runs)+len(k.results)+len(k.said) == 0 && since <= k.w.now
}

// wakes writes the lease before something is begun. If somebody has ended the session meanwhile
// that is refused, and the process opens the next one.
func (k *worker) wakes() bool {
	if _, idle := k.rest(); idle {
		if k.w.bucket.dead[k.session] {
			k.p.outlive()
			return false
		}
		k.lease.writes++
	}
	k.lease.worked = k.w.now
	return true
}

// outlive ends a session that others have ended at rest.
func (p *participant) outlive() {
	p.lapse()
	p.later(p.w.upTo(p.w.Delay), p.rejoin)
}

// lasts is how much longer than a lease the session of a crashed process is waited for: others hear
// an idle one less often.
func (w *taskWorld) lasts(session uint64) time.Duration {
	if k := w.bucket.workers[session]; w.AtRest && k != nil && k.lease.idle {
		return 5 * w.Lease
	}
	return 0
}

// unanswered ends the session of a worker, if it is idle as far as the view of the scheduler's
// process tells, and if its lease stands so when that arrives.
func (l *lead) unanswered(e tasks.Unanswered) {
	w, k := l.w, l.w.bucket.workers[e.Session]
	l.w.Unanswered++
	if k == nil || l.p.cut || !w.calm && w.chance(w.Loss) {
		return
	}
	since, idle := k.rest()
	if !idle || since+l.p.lag > w.now {
		return
	}
	writes := k.lease.writes
	w.after(w.travel(), func() {
		if k.lease.writes == writes && !w.bucket.dead[e.Session] && !w.gone(e.Session) {
			w.EndedAtRest++
			w.close(k.p, e.Session)
		}
	})
}
