package protocol

import (
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

// nextHolder is when the holder's scale wants the next Tick. Only what lies ahead counts: what was
// due has been done.
func (m *Machine) nextHolder() record.Instant {
	if m.phase != open {
		return view.Never
	}
	l, next := &m.lease, view.Never
	ahead := func(t record.Instant) {
		if t > m.now.Holder {
			next = min(next, t)
		}
	}
	ahead(l.deadline)
	if !l.inflight {
		ahead(l.nextBeat)
	}
	if m.leading > 0 {
		ahead(m.trustedUntil())
		if m.downSince != view.Never {
			ahead(m.downSince.Add(m.cfg.Grace))
		}
	}
	if l.unseenSince != 0 {
		ahead(m.unseenDue())
	}
	for _, r := range m.ready {
		ahead(r.until)
	}
	return next
}

// nextObserver is the same on the observer's scale, for what no schedule keeps.
func (m *Machine) nextObserver() record.Instant {
	next := min(m.peersDue.Next(), m.rolesDue.Next())
	ahead := func(t record.Instant) {
		if t > m.now.Observer {
			next = min(next, t)
		}
	}
	ahead(m.lease.retry.after)
	ahead(m.view.AskAt())
	if m.own.wanted > m.own.acked {
		ahead(max(m.own.retry.after, m.own.restoreAt))
	}
	for _, p := range m.proofs {
		ahead(p.after)
	}
	if m.phase == opening {
		ahead(m.formerDue())
	}
	if m.closing.asked {
		ahead(m.closing.due)
		ahead(m.closing.retry.after)
	}
	return next
}

// apply gives a session up: what runs under it cannot do its part.
func (a Abandon) apply(m *Machine) {
	if m.phase == open && m.lease.number == a.Session {
		m.lose(a.Reason)
	}
}
