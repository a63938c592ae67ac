package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// claimableSince is when the role became free to be claimed, ok whether it is.
//
//   - absent from a complete first snapshot, vacated in order, or removed since: from when it was
//     first seen so
//   - absent from an adopted bucket: from L_max after that
//   - held by a session that is dead for certain: from when that was first seen
//   - after a term whose record was lost: not before its leader has ceased to trust its session
//   - vacated by force, deleted, or unreadable: the lease time after it was first seen so, since
//     the former leader leads for that long if it has not seen it
func (m *Machine) claimableSince(rv *RoleView) (since record.Instant, ok bool) {
	since, ok = m.freeSince(rv)
	return max(since, rv.Waits), ok
}

func (m *Machine) freeSince(rv *RoleView) (since record.Instant, ok bool) {
	v := m.view
	switch rv.Form {
	case record.FormNone:
		since, ok := v.CompleteSince()
		if m.cfg.Adopted { // a leader whose record went with the purge may trust it for that long
			since = since.Add(m.cfg.MaxTTL)
		}
		return since, ok
	case record.FormRecord:
		if rv.Role.Vacant {
			if rv.Role.Forced {
				return rv.Seen.Add(rv.Role.TTL()), true
			}
			return rv.Seen, true
		}
		if v.Dead(rv.Role.Holder(), rv.Role.Session) {
			return max(rv.Seen, v.Peer(rv.Role.Holder()).EndSeen), true
		}
		return 0, false
	case record.FormRemoved:
		return rv.Seen, true
	case record.FormNewer:
		return 0, false
	}
	return v.LostUntil(rv), true
}

// tryClaim claims a role when it is free and it is our turn.
func (m *Machine) tryClaim(r *role) {
	if !r.advertised || m.closing.asked || r.Notes.inflight {
		return
	}
	since, ok := m.claimableSince(r.RoleView)
	if !ok {
		return
	}
	if m.now.Observer < since {
		m.wakeRole(r.RoleView, since)
		return
	}
	if m.noRoomFor(r) {
		return
	}
	if turn := since.Add(m.turnDelay(r)); m.now.Observer < turn {
		m.wakeRole(r.RoleView, turn)
		return
	}
	if !m.canAct() {
		m.want(r)
		return
	}
	if !m.enterClaim(r) {
		return
	}
	r.claim = &claim{
		expect: standing(r.Form, r.Revision), token: m.cfg.NewID(), former: view.Never, sent: m.now.Observer,
		handed: r.Form == record.FormRecord && r.Role.Vacant && r.Role.Next == m.cfg.Instance,
	}
	r.claim.backs = m.failBacks(r, r.claim.handed)
	if last, ok := m.view.LastSign(r.RoleView); ok {
		r.claim.former = last
	}
	r.Notes.token, r.Notes.known = r.claim.token, m.view.Last()
	m.claims.add(r)
	m.spread.promises.End(r.Name)
	m.sendClaim(r)
}

func (m *Machine) sendClaim(r *role) {
	rec := record.Role{
		V: record.Version, TTLms: m.cfg.TTL.Milliseconds(),
		ID: m.cfg.Instance, Session: m.lease.number, Token: r.claim.token, Key: m.cfg.Key, Priority: r.priority,
		FailBacks: r.claim.backs.Failed, FailedBack: r.claim.backs.Back,
	}
	r.Notes.inflight = true
	send := m.put
	if m.joins(r) {
		send = m.join
	}
	send(pending{
		purpose: forClaim, role: r.RoleView, expect: r.claim.expect, stood: r.Revision,
		entry: record.Entry{Kind: record.KindRole, Name: r.Name, Form: record.FormRecord, Role: rec},
	}, Write{Key: record.RoleKey(r.Name)}, rec)
}

func (m *Machine) claimWritten(p pending, w Written, mine bool) {
	rv := p.role
	rv.Notes.inflight = false
	m.report(p, w, rv.Revision, Claimed{rv.Name, w.Outcome, m.elapsed(p)})
	m.touchRole(rv)
	if !mine {
		return
	}
	switch w.Outcome {
	case record.Won:
		m.unshown(&rv.Notes.retry, !p.overNothing() || rv.Revision != p.stood, m.cfg.TTL)
	case record.Refused:
		if rv.Notes.retry = (retry{}); rv.Revision == p.stood {
			m.unexplained(&rv.Notes.retry)
		}
	case record.Unknown:
		m.unknown(&rv.Notes.retry, "claim", rv.Name)
	}
}

// reconcileClaim resolves an open claim by what the view shows, and by that alone; or sends it once
// more.
func (m *Machine) reconcileClaim(r *role) {
	c, t := r.claim, &r.Notes
	switch {
	case r.Held() && r.Role.Token == c.token && m.names(r.RoleView):
		m.endClaim(r)
		if m.canAct() && r.advertised {
			m.beginTerm(r, c)
			if m.claims.len() == 0 { // only now do we lead all that the roles without room wait for
				m.madeRoom()
			}
		} else { // it came too late to be trusted, and is swept
			m.madeRoom()
		}
	case standing(r.Form, r.Revision) != c.expect:
		m.endClaim(r) // somebody else was first
		m.madeRoom()
	case t.inflight:
	case t.retry.waiting(m.now.Observer):
		m.wakeRole(r.RoleView, t.retry.after)
	case !m.canAct():
		m.want(r)
	case !m.due(&t.retry):
		m.wakeRole(r.RoleView, t.retry.after)
	case m.enterClaim(r):
		m.sendClaim(r)
	}
}

func (m *Machine) endClaim(r *role) {
	r.claim, r.Notes.retry = nil, retry{}
	m.claims.remove(r)
}

// dropClaims forgets the claims of a session that has ended: what lands of them names a dead
// session.
func (m *Machine) dropClaims() {
	for _, r := range m.claims.clear() {
		r.claim, r.Notes.retry = nil, retry{}
	}
	m.wanting.clear()
}

// sweep gives away a role that names our live session though we have no term of it: a vacate that
// was lost, or a claim we had given up. It is never resumed at an epoch that has ended. A token
// that is none of ours was written by somebody else over a leader that may still lead, so that
// vacancy counts as forced.
func (m *Machine) sweep(rv *RoleView) {
	t := &rv.Notes
	switch {
	case t.mine != nil && t.mine.leaving != nil && !t.mine.leaving.vacate: // left to the end of the session
	case t.inflight:
	case !m.due(&t.retry):
		m.wakeRole(rv, t.retry.after)
	case m.enter(rv):
		m.vacate(rv, "swept", "", rv.Role.Token != t.token)
	}
}

// turnDelay is how long we let those before us go first for a role that can be claimed. It goes by
// our rank, and is a heartbeat more for the candidate to which the role was handed. That one has
// confirmed that it takes the role, so it is only slow, and nobody else was meant.
func (m *Machine) turnDelay(r *role) time.Duration {
	if r.group != nil {
		return m.dealtDelay(r)
	}
	rank, all, handed := 0, 0, time.Duration(0)
	me := view.Contender{Instance: m.cfg.Instance, Session: m.lease.number, Tier: r.tier, Priority: r.rank}
	for _, p := range r.Candidates {
		if p == m.self {
			continue
		}
		c, ok := m.view.Contender(m.now.Observer, r.Name, p)
		if !ok || m.isFull(p) {
			continue
		}
		if all++; view.CompareContenders(&r.Role, c, me) > 0 {
			continue
		}
		rank++
		if r.Role.Vacant && c.Instance == r.Role.Next {
			handed = m.cfg.Heartbeat
		}
	}
	return m.queue(rank, all) + handed
}
