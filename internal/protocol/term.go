package protocol

import (
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// beginTerm makes us the leader: our claim stands at the revision of the record, which is the
// epoch.
func (m *Machine) beginTerm(r *role, c *claim) {
	t := &term{
		id: r.Revision, epoch: r.Revision, token: c.token, session: m.lease.number, under: r.condition.present(),
		began: m.now.Observer,
	}
	if m.cfg.Rotation > 0 {
		t.rotateAt = t.began.Add(m.cfg.Rotation)
	}
	if c.handed {
		t.handover.notBefore = t.began.Add(m.cfg.CoolDown)
		r.Notes.rests = t.began.Add(m.cfg.TTL)
	}
	r.term = t
	r.unplaced = false
	m.active.add(r)
	m.expect(t.epoch, r.RoleView)
	if m.leading == 0 {
		m.allFrom = m.now.Holder.Add(m.cfg.Heartbeat)
	}
	m.leading++
	m.running++
	begin := BeginTerm{
		Role: r.Name, Epoch: t.epoch, Token: t.token, Session: t.session, Under: t.under, Priority: r.priority,
	}
	if c.former != view.Never {
		begin.Gap = max(m.now.Observer.Sub(c.former), 1)
	}
	m.emit(begin)
	m.touchRole(r.RoleView)
}

// endTerm ends trust in a term; its work is cancelled and will report that it has drained.
func (m *Machine) endTerm(r *role, cause Cause, next string) {
	t := r.term
	if !t.leading() {
		return
	}
	t.cause, t.ended, t.next = cause, m.now.Observer, next
	t.asked, t.agreed = m.now.Observer, m.sessionOf(next)
	m.leading--
	switch cause {
	case SteppedDown, WorkReturned:
		m.coolDown(r, false)
	case WorkFailed, Unhealthy:
		m.coolDown(r, true)
	}
	if r.advertised && !r.eligible(m.now.Observer) { // said before the role is given away, so that nobody counts on us
		m.advertise(r, false)
		t.version = m.own.wanted
	}
	m.dropHandover(r, ErrNotLeader)
	m.emit(EndTerm{r.Name, t.id, cause})
	m.wake(r)
	m.touchRole(r.RoleView)
}

// endAll ends every term that is still trusted.
func (m *Machine) endAll(cause Cause) {
	for _, r := range m.active.list {
		m.endTerm(r, cause, "")
	}
}

func (d Drained) apply(m *Machine) {
	if r := m.termOf(d.Role, d.Term); r != nil && !r.term.leading() {
		if !r.term.drained {
			r.term.drained = true
			m.running--
		}
		m.touchRole(r.RoleView)
	}
}

func (d Returned) apply(m *Machine) {
	if r := m.termOf(d.Role, d.Term); r != nil && r.term.leading() {
		cause := WorkReturned
		if d.Failed {
			cause = WorkFailed
		}
		m.endTerm(r, cause, "")
	}
}

func (m *Machine) termOf(name string, id uint64) *role {
	rv := m.view.Role(name)
	if rv == nil || rv.Notes.mine == nil || rv.Notes.mine.term == nil || rv.Notes.mine.term.id != id {
		return nil
	}
	return rv.Notes.mine
}

// reconcileTerm carries a term forward.
func (m *Machine) reconcileTerm(r *role) {
	t := r.term
	m.adoptRotation(r)
	if t.leading() {
		if !m.holds(r) {
			m.endTerm(r, Evicted, "")
			return
		}
		if r.barred != 0 {
			m.endTerm(r, r.barred, "")
			return
		}
		m.considerHandover(r)
		if t.leading() {
			m.considerRotation(r)
		}
		return
	}
	m.startCoolDown(r)
	m.watchDrain(r)
	m.remind(r)
	if t.drained || t.stuck && r.undrained {
		m.handOver(r)
	}
	if t.drained && t.given {
		m.endOfTerm(r)
	}
}

// holds reports whether the record of a role is the one that grants our term.
func (m *Machine) holds(r *role) bool {
	return m.names(r.RoleView) && r.Revision == r.term.epoch && r.Role.Token == r.term.token
}

// startCoolDown keeps us from a role that was taken from us by force: for the lease time that all
// others wait first, and then the cool-down, so that one of them leads it.
func (m *Machine) startCoolDown(r *role) {
	if t := r.term; !t.evicted && r.Form == record.FormRecord && r.Role.Vacant && r.Role.Forced &&
		r.Role.By == m.cfg.Instance {
		t.evicted = true
		r.coolUntil = max(r.coolUntil, r.Seen.Add(r.Role.TTL()+m.cfg.CoolDown))
		m.touchRole(r.RoleView)
	}
}

// watchDrain reports work that has not returned in time. The role stays held meanwhile: nobody
// leads beside it.
func (m *Machine) watchDrain(r *role) {
	t := r.term
	if t.drained || t.stuck {
		return
	}
	if due := t.ended.Add(m.cfg.Drain); m.now.Observer < due {
		m.wakeRole(r.RoleView, due)
		return
	}
	t.stuck = true
	m.touchRole(r.RoleView) // not eligible any more
	m.emit(RoleStuck{r.Name, t.epoch, m.now.Observer.Sub(t.ended)})
}

// handOver vacates the record by CAS, if the session that holds it is still ours. Never blind,
// never a delete.
func (m *Machine) handOver(r *role) {
	t, task := r.term, &r.Notes
	switch {
	case t.session != m.lease.number || m.phase != open || !m.names(r.RoleView):
		t.given = true
	case r.leaving != nil && !r.leaving.vacate:
		t.given = true // the record stays to the end of the session
	case task.inflight:
	case m.own.acked < t.version && !m.own.tooLarge && !m.closing.asked: // comes back when the member record stands
	case !m.due(&task.retry):
		m.wakeRole(r.RoleView, task.retry.after)
	case m.enter(r.RoleView):
		m.vacate(r.RoleView, t.cause.String(), m.present(r, t.next), r.Role.Token != t.token && r.Role.Token != t.rotating)
	}
}

// present is the candidate of that name if it is heard and would still lead the role, else nobody:
// all others would wait for it.
func (m *Machine) present(r *role, instance string) string {
	p := m.view.Peer(record.Peer{Class: record.Candidate, Instance: instance})
	if p == nil || !m.view.Heard(m.now.Observer, p) {
		return ""
	}
	if _, ok := m.view.Contender(m.now.Observer, r.Name, p); !ok {
		return ""
	}
	return instance
}

func (m *Machine) vacate(rv *RoleView, reason, next string, forced bool) {
	backs := m.ownFailBacks(rv)
	m.giveUp(rv, record.Role{
		V: record.Version, TTLms: rv.Role.TTLms, Vacant: true, By: m.cfg.Instance, Reason: reason, Next: next, Forced: forced,
		FailBacks: backs.Failed, FailedBack: backs.Back,
	})
}

func (m *Machine) vacateWritten(p pending, w Written, mine bool) {
	rv := p.role
	rv.Notes.inflight = false
	if w.Denied { // not ours to give up, see giveUpForDead
		m.barred = true
	}
	m.touchRole(rv)
	if !mine {
		return
	}
	m.vacates--
	switch w.Outcome {
	case record.Won:
		rv.Notes.retry = retry{}
	case record.Refused:
		if rv.Notes.retry = (retry{}); rv.Revision == p.stood {
			m.unexplained(&rv.Notes.retry)
		}
	case record.Unknown:
		m.unknown(&rv.Notes.retry, "vacate", rv.Name)
	}
}

// endOfTerm makes the term history; only now may this process claim the role again.
func (m *Machine) endOfTerm(r *role) {
	t := r.term
	r.term, r.Notes.retry = nil, retry{}
	m.active.remove(r)
	m.emit(RoleGiven{r.Name, t.epoch})
	m.madeRoom()
	successor := m.successor(r.RoleView)
	for _, id := range t.waiting {
		m.emit(Done{ID: id, Successor: successor})
	}
	m.touchRole(r.RoleView)
}

// successor is the instance that follows us in a role that we have given away: its holder, or else
// the one that is first in line. The watch may show the successor's record before our own write is
// acknowledged.
func (m *Machine) successor(rv *RoleView) string {
	if leader := m.view.Leader(rv); leader != "" && rv.Role.Holder() != m.self.Peer {
		return leader
	}
	return m.view.Successor(m.now.Observer, rv)
}

// allDrained reports whether no work of any term still runs.
func (m *Machine) allDrained() bool { return m.running == 0 }

func (m *Machine) undrained() (names []string) {
	for _, r := range m.active.list {
		if !r.term.drained {
			names = append(names, r.Name)
		}
	}
	return names
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
