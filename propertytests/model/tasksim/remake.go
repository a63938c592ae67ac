package tasksim

import (
	"time"
)

// remake deletes the bucket and makes it again: nothing that was said in it stands, and the new one
// has no record of it. A process with a session of the old bucket continues with it until the
// process asks again, or its belief ends. Until then, and no longer, its handlers may run beside
// those of the new bucket.
func (w *taskWorld) remake() {
	w.Remade++
	w.bucket.base = len(w.bucket.log)
	w.tell(w.Trace, "the bucket is recreated")
	for _, p := range w.procs {
		session := p.session
		if session == 0 {
			continue
		}
		for _, r := range sorted(p.work.runs) {
			if !r.over && !r.outlives {
				r.outlives = true
				w.live[w.task(r.id, r.revision)]--
			}
		}
		w.after(w.upTo(time.Duration(float64(w.Lease*4/5)/(1+p.rate))), func() {
			if p.session != session {
				return
			}
			p.lapse()
			p.does(p.rejoin)
		})
	}
}

// gone reports whether a session is of a bucket that was deleted.
func (w *taskWorld) gone(session uint64) bool { return session <= uint64(w.bucket.base) }

// watch begins to watch the bucket that there is, with nothing known of it.
func (p *participant) watch() {
	base := p.w.bucket.base
	if p.base == base {
		return
	}
	for _, l := range p.w.leads { // what is attached to a session ends with it
		if l.p == p {
			l.stop()
		}
	}
	p.base, p.seen, p.reachable = base, base, base
	p.epoch, p.highest, p.holder, p.deaths = 0, 0, 0, nil
	p.epochs = epochs{looked: base}
	p.see(len(p.w.bucket.log))
}

// wipe is an operator who removes the records of a session that has crashed, before anybody has
// ended it. A role that names the session has it ended by others; else only a process that waits
// for its end does that. It reports whether anything was left to remove.
func (w *taskWorld) wipe(p *participant, session uint64) bool {
	if w.bucket.dead[session] || w.gone(session) || w.named() == session {
		return false
	}
	w.Wipes++
	w.append(wiped, p, session)
	return true
}

// named is the session that the record of the role names, 0 for none.
func (w *taskWorld) named() uint64 {
	for i := len(w.bucket.log) - 1; i >= w.bucket.base; i-- {
		if r := w.bucket.log[i]; r.kind == roleRecord {
			return r.session
		}
	}
	return 0
}

// await has the sessions ended that are in the state and not in the view: the rules of sessions do
// it when the longest lease is over.
func (l *lead) await(present map[uint64]bool) {
	for _, session := range l.s.Sessions() {
		if present[session] || l.told[session] || l.awaited[session] {
			continue
		}
		l.awaited[session] = true
		l.p.later(l.w.Lease, func() {
			if l.able() && l.p.seen == len(l.w.bucket.log) {
				l.w.Awaited++
				l.w.bury(l.w.bucket.log[session-1].p, session)
				return
			}
			delete(l.awaited, session)
		})
	}
}
