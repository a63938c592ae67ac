package protocol

import (
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// apply makes us take part in a role, also in one that we are about to leave.
func (j Join) apply(m *Machine) {
	rv := m.view.Mention(j.Role.Name)
	if rv.Notes.mine != nil && rv.Notes.mine.leaving == nil {
		return
	}
	r := &role{
		RoleView: rv, priority: j.Role.Priority, takeover: j.Role.Takeover, undrained: j.Role.VacateUndrained,
		advertised: !m.closing.asked, groupName: j.Role.Group, apart: j.Role.Apart,
		zones: j.Role.Zones, zonesOnly: j.Role.ZonesOnly, failBack: j.Role.FailBack,
	}
	m.rankRole(r)
	r.condition = m.dependsOn(j.Role.Condition, j.Role.WaitsFor)
	r.advertised = r.advertised && r.barred == 0 && r.condition.lasts()
	r.out = r.exclusion(m.now.Observer)
	if j.Role.Spread {
		r.group = m.groupOf(j.Role.Group)
	}
	if old := rv.Notes.mine; old != nil { // joined again while it was still leaving
		r.term, r.claim = old.term, old.claim
		m.replace(old, r)
	}
	rv.Notes.mine = r
	m.touchMember()
	m.touchRole(rv)
}

// replace hands the term or the claim of a role that was leaving to its new configuration.
func (m *Machine) replace(old, r *role) {
	for _, set := range []*set[*role]{&m.active, &m.claims} {
		if set.has(old) {
			set.remove(old)
			set.add(r)
		}
	}
	m.wanting.remove(old)
	m.keptRoles.remove(old)
	m.letGo(old.condition)
	if old.leaving.command != 0 {
		m.emit(Done{ID: old.leaving.command})
	}
}

func (l Leave) apply(m *Machine) {
	r := m.part(l.Role)
	if r == nil || r.leaving != nil {
		m.emit(Done{ID: l.ID, Err: ErrUnknownRole})
		return
	}
	r.leaving = &leaving{command: l.ID, vacate: l.Vacate}
	m.touchMember()
	if r.term != nil && r.term.leading() {
		m.endTerm(r, SteppedDown, "")
	}
	m.touchRole(r.RoleView)
}

// reconcileRole does what the rules ask for about one role. It looks at what stands in the view and
// at what we have under way, and never at which event came: so it is right after any of them, in
// any order.
func (m *Machine) reconcileRole(rv *RoleView) {
	m.rolesDue.Set(rv, view.Never)
	r := rv.Notes.mine
	m.outlast(rv)
	if r == nil && m.forgetRole(rv) {
		return
	}
	if m.phase != open || m.cfg.Class != record.Candidate {
		if r != nil && r.term != nil {
			m.reconcileTerm(r)
		}
		m.forget(r)
		return
	}
	if m.outlived(rv) {
		return
	}
	if r != nil {
		r.unplaced = r.unplaced && !rv.Held()
		m.advertise(r, r.eligible(m.now.Observer) && !m.closing.asked)
		if r.coolUntil > m.now.Observer {
			m.wakeRole(rv, r.coolUntil)
		}
		if r.claim != nil {
			m.reconcileClaim(r)
		}
		if r.term != nil {
			m.reconcileTerm(r)
		}
	}
	if r == nil || r.claim == nil && r.term == nil {
		switch {
		case m.names(rv):
			m.sweep(rv)
		case r != nil:
			m.tryClaim(r)
			m.keepVacancy(r)
		default:
			m.giveUpForDead(rv)
		}
	}
	m.forget(r)
}

// outlast takes in that the marker of a removed role has left, which no watch tells, so that a
// claim expects what stands there.
func (m *Machine) outlast(rv *RoleView) {
	due, removed := m.view.MarkerLeaves(rv)
	switch {
	case !removed || rv.Notes.mine == nil || rv.Notes.inflight || rv.Notes.mine.claim != nil:
	case m.now.Observer < due:
		m.wakeRole(rv, due)
	default:
		m.view.MarkerLeft(m.now.Observer, rv, &m.news)
	}
}

// forgetRole drops a role of which nothing is under way here and nothing stands in the bucket, or
// looks at it again when it may.
func (m *Machine) forgetRole(rv *RoleView) bool {
	due, ok := m.view.ForgetAt(rv)
	switch {
	case !ok || rv.Notes.inflight || rv.Notes.queuing:
		return false
	case m.now.Observer < due:
		m.wakeRole(rv, due)
		return false
	}
	m.view.ForgetRole(rv)
	return true
}

// outlived ends our session when the record of a role names a later one of ours: another process of
// our name has that, or the store has lost what was written of it. Then nobody would ever claim the
// role, and our next session is later still.
func (m *Machine) outlived(rv *RoleView) bool {
	switch {
	case !rv.Held() || rv.Role.Holder() != m.self.Peer || rv.Role.Session <= m.lease.number:
		return false
	case m.view.Last() < rv.Role.Session:
		m.wakeRole(rv, m.now.Observer.Add(m.cfg.Heartbeat))
		return false
	}
	m.lose("the role " + rv.Name + " is held by a later session of ours")
	return true
}

// forget drops a role that we have left once nothing of it is under way.
func (m *Machine) forget(r *role) {
	if r == nil || r.leaving == nil || r.term != nil || r.claim != nil || r.Notes.inflight {
		return
	}
	if r.leaving.vacate && m.names(r.RoleView) {
		return
	}
	if m.names(r.RoleView) {
		m.keptRoles.add(r)
	} else {
		m.keptRoles.remove(r)
		r.Notes.mine = nil
		m.letGo(r.condition)
	}
	m.wanting.remove(r)
	if r.leaving.command != 0 {
		m.emit(Done{ID: r.leaving.command, Successor: m.successor(r.RoleView)})
		r.leaving.command = 0
	}
}

func (p Pause) apply(m *Machine) { m.setPaused(p.ID, p.Role, true) }

func (r Resume) apply(m *Machine) { m.setPaused(r.ID, r.Role, false) }

func (m *Machine) setPaused(id CommandID, name string, paused bool) {
	r := m.part(name)
	if r == nil || r.leaving != nil {
		m.emit(Done{ID: id, Err: ErrUnknownRole})
		return
	}
	if r.paused = paused; !paused {
		r.coolUntil, r.failures = 0, 0
	}
	if r.term != nil && r.term.leading() && paused {
		m.endTerm(r, SteppedDown, "")
	}
	m.touchRole(r.RoleView)
	m.emit(Done{ID: id})
}

func (h Health) apply(m *Machine) {
	r := m.part(h.Role)
	if r == nil || r.unhealthy == !h.Healthy {
		return
	}
	r.unhealthy = !h.Healthy
	if r.term != nil && r.term.leading() && r.unhealthy {
		m.endTerm(r, Unhealthy, "")
	}
	m.touchRole(r.RoleView)
}
