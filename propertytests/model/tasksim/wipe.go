package tasksim

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

// await has the sessions ended that are on the books and not in the view: the rules of sessions do
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
