package protocol

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/spread"
)

// admit says whether we take a role that somebody wants to give us, and promises it then. Every
// hand-over asks, for whatever reason it is made (S4). Nothing is promised to a leader that only
// tells that it will give a role away.
func (m *Machine) admit(r *role, q *readyAsk) error {
	if q.wake || r.group == nil && m.cfg.MaxRoles == 0 && !q.balance {
		return nil
	}
	quota := 0
	if q.balance {
		if quota = m.quota(r); quota == 0 {
			return ErrDeclined
		}
	}
	if !m.count(r).Admits(m.cfg.MaxRoles, q.balance, quota) || m.clashes(r) {
		return ErrDeclined
	}
	m.spread.promises.Add(r.Name, m.now.Observer.Add(m.promiseLasts()))
	return nil
}

// quota is how many roles of the group of r we may lead, by our plan.
func (m *Machine) quota(r *role) int {
	if r.group == nil {
		return 0
	}
	g := r.group
	if g.picture == nil || g.wrong || m.now.Observer >= g.made.Add(m.cfg.Heartbeat/8) {
		m.replan(g)
	}
	me, ok := g.picture.Index(m.self)
	if !ok {
		return 0
	}
	return g.plan.Room(me)
}

// count is what we lead, have claimed and have promised, but for r.
func (m *Machine) count(r *role) (c spread.Count) {
	m.eachOfOurs(func(other *role) {
		if other == r {
			return
		}
		if c.All++; other.groupName == r.groupName {
			c.Group++
		}
	})
	return c
}

// load is how many roles we lead, drain, have claimed or have promised, but for r. It is asked for
// each claim, so the roles are not walked.
func (m *Machine) load(r *role) int {
	n := m.active.len() + m.claims.len()
	if m.active.has(r) || m.claims.has(r) {
		n--
	}
	m.spread.promises.Each(m.now.Observer, func(name string) {
		if other := m.part(name); other != nil && other != r && other.term == nil && other.claim == nil {
			n++
		}
	})
	return n
}

// eachOfOurs calls do for each role that we lead, drain, have claimed or have promised to take.
func (m *Machine) eachOfOurs(do func(*role)) {
	for _, r := range m.active.list {
		do(r)
	}
	for _, r := range m.claims.list {
		do(r)
	}
	m.spread.promises.Each(m.now.Observer, func(name string) {
		if r := m.part(name); r != nil && r.term == nil && r.claim == nil {
			do(r)
		}
	})
}

// clashes reports whether we lead, or are about to, a role that r is to be apart from.
func (m *Machine) clashes(r *role) (clash bool) {
	m.eachOfOurs(func(other *role) {
		clash = clash || other != r && (slices.Contains(r.apart, other.Name) || slices.Contains(other.apart, r.Name))
	})
	return clash
}

// noRoomFor reports whether we lead as many roles as we may. If that is so of everybody who could
// take a role, that is told.
func (m *Machine) noRoomFor(r *role) bool {
	if m.cfg.MaxRoles == 0 || m.load(r) < m.cfg.MaxRoles {
		return false
	}
	r.turned, m.spread.turned = true, true
	if until, ok := m.spread.promises.Next(); ok { // it is not taken, and there is room then
		m.wakeRole(r.RoleView, max(until, m.now.Observer.Add(1)))
	}
	if !r.unplaced && !slices.ContainsFunc(r.Candidates, func(p *PeerView) bool {
		_, ok := m.view.Contender(m.now.Observer, r.Name, p)
		return ok && !m.isFull(p)
	}) {
		r.unplaced = true
		m.emit(RoleUnplaced{r.Name})
	}
	return true
}

// madeRoom looks again at all roles that we had no room for.
func (m *Machine) madeRoom() {
	if !m.spread.turned {
		return
	}
	m.spread.turned = false
	for _, rv := range m.view.Roles() {
		if r := rv.Notes.mine; r != nil && r.turned {
			r.turned = false
			m.touchRole(rv)
		}
	}
}

// isFull reports whether a member is known to lead as many roles as it may.
func (m *Machine) isFull(p *PeerView) bool {
	if p.Member == nil || p.Member.MaxRoles == 0 || len(p.Holds) < p.Member.MaxRoles {
		return false
	}
	led := 0
	for _, held := range p.Holds {
		if ledBy(p, held) {
			led++
		}
	}
	return led >= p.Member.MaxRoles
}

// ledBy reports whether a member leads a role that it holds. One that an earlier session of it
// holds it leads no longer: nobody does, for as long as nobody may, as while the role is paused.
func ledBy(p *PeerView, held *RoleView) bool { return held.Role.Session == p.Session() }

// wouldDecline reports whether a member, as we see it, would not take a role of ours.
func (m *Machine) wouldDecline(r *role, p *PeerView) bool {
	return m.isFull(p) || slices.ContainsFunc(p.Holds, func(held *RoleView) bool {
		return ledBy(p, held) &&
			(slices.Contains(r.apart, held.Name) || p.Member != nil && slices.Contains(p.Member.Apart[held.Name], r.Name))
	})
}

// promiseLasts is after how long a promise ends by itself: the leader has been told no by then, or
// has given the role away.
func (m *Machine) promiseLasts() time.Duration { return 2 * m.cfg.OpTimeout }

// loadOf is how many roles of a group a member leads, or is about to be given by us.
func (m *Machine) loadOf(g *spreadGroup, p *PeerView) (n int) {
	for _, rv := range p.Holds {
		if said, ok := p.Member.Candidacy(rv.Name); ok && said.Group == g.name && ledBy(p, rv) {
			n++
		}
	}
	for _, r := range g.giving {
		if t := r.term; t != nil && (t.leading() && t.handover.target == p.Peer.Instance || t.next == p.Peer.Instance) {
			n++
		}
	}
	return n
}
