package protocol

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// purpose says what a write is for, and so which rule receives its outcome.
type purpose uint8

const (
	forBeat purpose = iota + 1
	forIdleBeat
	forClose
	forMember
	forKill
	forReap
	forClaim
	forVacate
	forRotate
	forProof
	forFarewell
)

// pending is a write whose outcome is not known yet.
type pending struct {
	purpose purpose
	entry   record.Entry // what stands at the key if it wins, but for the revision
	expect  uint64       // the revision it replaces
	stood   uint64       // the highest revision known of that key when it was sent
	known   uint64       // and of any key: a write that wins at or below it proves that revisions went back
	session uint64       // ours when it was sent; an outcome that outlives its session concerns the view only
	at      record.Instant
	beat    uint64
	version uint64
	among   int // role writes in flight when it was sent, itself included
	peer    *PeerView
	role    *RoleView
	proof   *proof
}

// overNothing reports whether the condition of a write is that its key is absent. When such a write
// has won, the watch alone says that it stands: the connection may have been made to another bucket
// of this name since the condition was read, and there everything is absent. A revision, in
// contrast, is not the same in two buckets.
func (p *pending) overNothing() bool { return p.expect == 0 && p.purpose != forProof }

// unshown notes a write that has won over nothing. If the watch does not show it within the wait,
// there has to be a new watch.
func (m *Machine) unshown(r *retry, shown bool, wait time.Duration) {
	if *r = (retry{}); !shown {
		r.after, r.refused = m.now.Observer.Add(wait), true
	}
}

// untold is the notice of a win over nothing that the watch has not shown yet.
type untold struct {
	revision uint64
	notice   Effect
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

func (w Written) apply(m *Machine) {
	p, ok := m.writes[w.ID]
	if !ok {
		return
	}
	delete(m.writes, w.ID)
	if p.role != nil {
		m.leave(w.Outcome, w.Revision, m.elapsed(p))
		if w.Outcome != record.Unknown {
			m.window.paced(p.among, m.elapsed(p))
		}
	}
	w.Denied = w.Denied && p.entry.Role.Reason == Abandoned
	// everything else continues without a new member record, and with a role of others that stays
	if w.Fault != nil && !w.Denied && !(w.TooLarge && p.purpose == forMember) {
		m.fail(w.Fault)
		return
	}
	switch w.Outcome {
	case record.Won:
		back := w.Revision <= p.known // revisions are of the whole bucket
		if p.overNothing() {
			if back { // so they went back, or this was another bucket: a watch of ours tells
				m.below = append(m.below, w.Revision)
				m.rebuild("a write over nothing won below what was known")
			}
			break
		}
		if back {
			m.fail(ErrStoreRegressed)
			return
		}
		p.entry.Revision = w.Revision
		m.view.Merge(m.now.Observer, &p.entry, &m.news)
		m.takeBackIfOvertaken(p.role, w.Revision)
	case record.Refused:
		m.view.Deny(&p.entry, p.expect)
	}
	mine := p.session == m.lease.generation
	switch p.purpose {
	case forBeat:
		m.heartbeatDone(p, w, mine)
	case forIdleBeat:
		m.idleBeatDone(p, w, mine)
	case forClose:
		m.closeWritten(p, w, mine)
	case forMember:
		m.memberWritten(p, w, mine)
	case forKill, forReap:
		m.killWritten(p, w)
	case forClaim:
		m.claimWritten(p, w, mine)
	case forVacate:
		m.vacateWritten(p, w, mine)
	case forRotate:
		m.rotationWritten(p, w, mine)
	case forProof:
		m.probeWritten(p.proof, w)
	case forFarewell:
		m.farewellWritten(mine)
	}
}

// standing is the revision a write must expect at a key, by what the view knows: a missing key is
// absent to the server.
func standing(form record.Form, revision uint64) uint64 {
	if form == record.FormNone || form == record.FormMissing {
		return 0
	}
	return revision
}

// retry paces the attempts at one thing, on the observer's scale.
type retry struct {
	after    record.Instant
	failures int32
	refused  bool   // the last outcome was a refusal that the view has not explained yet
	late     uint64 // the watch was behind when it was to have explained it: not before it has come here
	shown    uint64 // what the watch had delivered then; a watch that shows nothing more is not waited for
}

func (r *retry) waiting(now record.Instant) bool { return now < r.after }

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
