package protocol

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// wantShort reports whether the session must beat fast: it holds or wants a role, has a write open
// that depends on it, suspects another session, runs tasks, or did so a moment ago. Everything else
// may be idle, so that idle traffic is bounded however many there are.
func (m *Machine) wantShort() bool {
	l := &m.lease
	if m.active.len()+m.claims.len()+m.wanting.len()+m.vacates+m.keptRoles.len()+
		len(m.proofs)+len(m.window.queue) > 0 || m.busy || m.closing.asked ||
		m.suspectsNeedBeat() || m.now.Holder < m.readyUntil {
		l.linger = m.now.Holder.Add(2 * m.cfg.Heartbeat)
		return true
	}
	return m.now.Holder < l.linger
}

// standsIdle reports whether our lease is known to stand idle, and no later write of it is open.
// Then the beats are beside it, where candidates do not watch, and an attempt to lead or to work
// begins with a write of the lease. A beat beside a lease that is about to be live would be that of
// a session which others see stand still.
func (m *Machine) standsIdle() bool {
	l, p := &m.lease, m.self
	return m.phase == open && !l.short && l.written == l.acked && p.Form == record.FormRecord && p.Revision == l.rev
}

// beatAside writes an idle beat, on the condition that our lease stands at rev.
func (m *Machine) beatAside(rev uint64, ttl time.Duration) {
	l, p := &m.lease, m.self
	l.aside = true
	rec := record.IdleBeat{
		V: record.Version, Session: l.number, Nonce: l.nonce, Lease: rev, Beat: l.beat, TTLms: ttl.Milliseconds(),
	}
	m.put(pending{
		purpose: forIdleBeat, beat: l.beat, expect: rev, stood: rev,
		entry: record.Entry{Kind: record.KindIdle, Peer: p.Peer, Form: record.FormRecord, Idle: rec},
	}, Write{
		Key: record.IdleKey(p.Peer), GuardKey: record.LeaseKey(p.Peer), GuardRevision: rev,
		TTL: max(minLeaseRetention, 10*ttl),
	}, rec)
}

// idleBeatDone: a refusal means nothing by itself. The watch of our lease says whether the session
// was killed, the lease wiped, or moved by ourselves.
func (m *Machine) idleBeatDone(p pending, w Written, mine bool) {
	l := &m.lease
	m.emit(Beat{w.Outcome, w.Revision, m.elapsed(p), true})
	if !mine {
		return
	}
	l.inflight = false
	switch w.Outcome {
	case record.Won:
		l.retry = retry{}
		m.extend(p.beat, p.stood)
	case record.Refused:
		if l.retry = (retry{}); m.self.Revision == p.stood {
			m.unexplained(&l.retry)
		}
	case record.Unknown:
		m.unknown(&l.retry, "heartbeat", "")
		l.nextBeat = m.now.Holder
		l.retry.after = min(l.retry.after, m.now.Observer.Add(m.cfg.Heartbeat))
	}
}

// extend takes a beat of ours that is known to have landed beside the lease at rev. While that
// stands, the beat with the largest number decides the deadline, and a later attempt with a shorter
// lease time that may have landed.
func (m *Machine) extend(beat, rev uint64) (sent record.Instant, known bool) {
	l := &m.lease
	i := slices.IndexFunc(l.attempts, func(a attempt) bool { return a.beat == beat && a.on == rev })
	if i < 0 {
		return 0, false
	}
	if rev == l.rev && !l.short && beat > l.heard {
		l.heard = beat
		l.deadline = view.Never
		for _, a := range l.attempts[i:] {
			if a.on == rev {
				until := a.sent.Add(a.ttl - m.cfg.margin(a.ttl))
				if a.beat == beat || until < l.deadline {
					l.deadline = until
				}
			}
		}
	}
	return l.attempts[i].sent, true
}

// seenOwnIdleBeat is what a watch over everything shows of our idle beats. It proves that this
// watch is alive, as a beat of the lease does. A late copy of an earlier beat says nothing.
func (m *Machine) seenOwnIdleBeat(e *record.Entry) {
	l := &m.lease
	if e.Form != record.FormRecord || e.Idle.Nonce != l.nonce {
		return
	}
	if sent, known := m.extend(e.Idle.Beat, e.Idle.Lease); known {
		l.shown = max(l.shown, sent)
		m.reviewSuspects()
	}
}

// chooseWatch asks for a watch over everything while this process has to know which idle sessions
// live, and for some time after that.
func (m *Machine) chooseWatch() {
	if m.phase == ended || m.closing.asked {
		return
	}
	width := Widen{All: m.width.All, OwnIdle: m.besideIdle()}
	switch {
	case m.judgesIdle():
		width.All, m.allUntil = true, m.now.Holder.Add(m.cfg.TTL)
	case width.All && m.now.Holder >= m.allUntil:
		width.All = false
	}
	if width != m.width {
		m.width = width
		m.emit(width)
	}
}

// besideIdle reports whether this process opens under the name of an idle session that is not its
// own: it has to see the beats of that.
func (m *Machine) besideIdle() bool {
	p := m.self
	return m.phase == opening && p.Form == record.FormRecord && p.Lease.State == record.Idle && !m.ownNonce(p.Lease.Nonce)
}

// judgesIdle reports whether this process leads beside idle ones: it hands over to an idle member,
// or ends it, only if it would see its beats. It waits until it has claimed what it can: a new
// watch in between would come in the way.
func (m *Machine) judgesIdle() bool {
	return m.phase == open && m.leading > 0 && m.view.Idlers() > 0 &&
		(m.width.All || m.now.Holder >= m.allFrom && m.claims.len()+m.wanting.len()+len(m.window.queue) == 0)
}

// want notes a claim that waits for a short beat to be acknowledged and seen.
func (m *Machine) want(r *role) { m.wanting.add(r) }

// wakeWanting looks again at the claims that waited, once they may go ahead.
func (m *Machine) wakeWanting() {
	if m.wanting.len() == 0 || !m.canAct() {
		return
	}
	for _, r := range m.wanting.clear() {
		m.touchRole(r.RoleView)
	}
}

func (b Busy) apply(m *Machine) { m.busy = b.Busy }

// apply gives a session up: what runs under it cannot do its part.
func (a Abandon) apply(m *Machine) {
	if m.phase == open && m.lease.number == a.Session {
		m.lose(a.Reason)
	}
}
