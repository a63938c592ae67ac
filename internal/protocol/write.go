package protocol

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// unshown notes a write that has won over nothing. If the watch does not show it within the wait,
// there has to be a new watch.
func (m *Machine) unshown(r *retry, shown bool, wait time.Duration) {
	if *r = (retry{}); !shown {
		r.after, r.refused = m.now.Observer.Add(wait), true
	}
}

// report tells of the outcome of a write. stands is the revision that its key has now. A win over
// nothing is a fact when the watch has shown it, and is told then.
func (m *Machine) report(p pending, w Written, stands uint64, notice Effect) {
	if w.Outcome == record.Won && p.overNothing() && stands != w.Revision {
		m.untold = append(m.untold, untold{w.Revision, notice})
		return
	}
	m.emit(notice)
}

// tellShown tells of a win over nothing that the watch has just shown. It delivers in the order of
// revisions, so what it has passed was overwritten, or was not written in this bucket.
func (m *Machine) tellShown(revision uint64) {
	if len(m.untold) == 0 {
		return
	}
	m.untold = slices.DeleteFunc(m.untold, func(u untold) bool {
		if u.revision == revision {
			m.emit(u.notice)
		}
		return u.revision <= revision
	})
}

// put sends a conditional write of a record.
func (m *Machine) put(p pending, w Write, rec any) {
	m.prepare(&p, &w, rec)
	m.writes[w.ID] = p
	m.emit(w)
}

// prepare completes a write that is about to be sent.
func (m *Machine) prepare(p *pending, w *Write, rec any) {
	m.lastWrite++
	w.ID = m.lastWrite
	if rec != nil {
		w.Value = record.Encode(rec)
	}
	w.Expect = p.expect
	p.at, p.session, p.known, p.among = m.now.Holder, m.lease.generation, m.view.Last(), m.window.inflight
}

// unknown notes an attempt without an answer.
func (m *Machine) unknown(r *retry, doing, role string) {
	r.failures++
	r.after, r.refused = m.now.Observer.Add(m.cfg.backoff(int(r.failures))), false
	m.slow = m.slow || r.failures >= slowAfter
	m.emit(Retrying{doing, role, int(r.failures), r.failures >= slowAfter})
}

// unexplained notes a refusal while the view still shows what the write expected: the watch has a
// second to explain it.
func (m *Machine) unexplained(r *retry) {
	r.after, r.refused = m.now.Observer.Add(explainTime), true
	r.late = 0
}

// due reports whether the next attempt may be made; an unexplained refusal asks for a new watch
// first. A watch that is only behind is on its way to the explanation, and the next one would have
// to show all of that again. A watch that shows nothing more is dead.
func (m *Machine) due(r *retry) bool {
	if r.waiting(m.now.Observer) {
		return false
	}
	if r.refused {
		shown := m.view.Delivered()
		if r.late == 0 {
			r.late, r.shown = m.view.Last(), 0
		}
		if m.view.Whole() && r.shown < shown && shown < r.late {
			r.shown, r.after = shown, m.now.Observer.Add(explainTime)
			return false
		}
		r.refused = false
		m.rebuild("a refusal that the watch does not explain")
		r.after = m.now.Observer.Add(explainTime)
		return false
	}
	return true
}

// hurry tries at once, from the shortest wait on, what has failed that often in a row: when the
// connection is back, or, out of the slow lane, when the watch shows that the store is there. So
// however much the watch delivers, the pace is bounded.
func (m *Machine) hurry(failures int32) {
	leave := func(r *retry) bool {
		if r.failures < failures {
			return false
		}
		r.failures, r.after = 0, 0
		return true
	}
	leave(&m.lease.retry)
	leave(&m.own.retry)
	leave(&m.closing.retry)
	for _, p := range m.view.Peers() {
		if leave(&p.Notes.retry) {
			m.touchPeer(p)
		}
	}
	for _, r := range m.view.Roles() {
		if leave(&r.Notes.retry) {
			m.touchRole(r)
		}
	}
	m.slow = false
}

func (m *Machine) rebuild(reason string) {
	if !m.rebuilding {
		m.rebuilding = true
		m.emit(RebuildWatch{reason})
	}
}

func (m *Machine) elapsed(p pending) time.Duration { return m.now.Holder.Sub(p.at) }
