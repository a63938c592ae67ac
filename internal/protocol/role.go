package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
	"github.com/rolemanager/rolemanager/internal/protocol/zone"
)

// role is our part in one role: how we take part, and the claim or the term we have.
type role struct {
	*RoleView

	priority  int32
	tier      int32 // of our zone
	rank      int32 // within all tiers
	zones     []string
	zonesOnly bool
	failBack  time.Duration
	barred    Cause      // why we may not lead it, 0: we may
	condition *condition // nil: it depends on nothing
	takeover  bool
	undrained bool // may be given away although the work of the last term has not returned

	group     *spreadGroup // nil: it is not spread
	groupName string
	apart     []string
	turned    bool // away: we had no room for it
	unplaced  bool // it is told of that only full members could take it

	paused     bool
	unhealthy  bool
	advertised bool           // what our member record says, or is about to say: eligible
	out        exclusion      // and if not, why
	failures   int32          // in a row, so that the cool-down grows
	coolUntil  record.Instant // observer's scale; not eligible before
	leaving    *leaving       // set: takes part no longer

	claim *claim
	term  *term
}

type leaving struct {
	command CommandID
	vacate  bool
}

// roleNotes is what the machine has under way for the record of a role, ours or not.
type roleNotes struct {
	queued   bool // to be looked at in this step
	queuing  bool // for a place among the writes in flight
	claiming bool // and what waits is a claim
	inflight bool // a claim, a vacate or a rotation
	mine     *role
	token    string // the last one that we wrote, or may have written, into the record
	known    uint64 // the highest revision known when we first did
	retry    retry
	rests    record.Instant // it is not moved for the sake of balance before, in a later term of ours neither
}

// part is our part in a role, nil when we have none. (What we keep to the end of the session is not
// one.)
func (m *Machine) part(name string) *role {
	rv := m.view.Role(name)
	if rv == nil || rv.Notes.mine == nil || m.keptRoles.has(rv.Notes.mine) {
		return nil
	}
	return rv.Notes.mine
}

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

// rankRole computes where we come in the order of a role, and whether we may lead it.
func (m *Machine) rankRole(r *role) {
	own := m.view.Steered(steeredZone + m.cfg.Zone)
	drained := own.Drained && m.cfg.Zone != ""
	r.tier = zone.Tier(r.zones, m.cfg.Zone, drained)
	r.rank = zone.Rank(r.tier, r.priority)
	r.barred = 0
	switch {
	case m.view.Steered(steeredRole + r.Name).Paused:
		r.barred = RolePaused
	case r.zonesOnly && r.tier <= zone.Last, drained && own.Hard:
		r.barred = ZoneDrained
	}
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

// eligible reports whether we would lead the role now. With work of a former term that does not
// return we could not.
func (r *role) eligible(now record.Instant) bool {
	if r.term != nil && r.term.stuck && !r.term.drained {
		return false
	}
	return !r.paused && !r.unhealthy && r.barred == 0 && r.condition.lasts() && r.leaving == nil && now >= r.coolUntil
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

// wakeRole makes sure that a role is looked at again at t.
func (m *Machine) wakeRole(rv *RoleView, t record.Instant) {
	if t < rv.Alarm.At {
		m.rolesDue.Set(rv, t)
	}
}

// names reports whether a role's record says that our present session holds it.
func (m *Machine) names(rv *RoleView) bool {
	return m.phase == open && rv.Held() && rv.Role.Holder() == m.self.Peer && rv.Role.Session == m.lease.number
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

const maxDoublings = 5

// coolDown keeps us from claiming a role again too soon; it doubles with every failure in a row, up
// to 32 times.
func (m *Machine) coolDown(r *role, failed bool) {
	n := 0
	if failed {
		if m.now.Observer.Sub(r.term.began) > m.cfg.CoolDown<<min(r.failures, maxDoublings) {
			r.failures = 0 // it has worked for longer than it was kept away
		}
		n = int(min(r.failures, maxDoublings))
		r.failures++
	}
	r.coolUntil = m.now.Observer.Add(m.cfg.CoolDown << n)
}
