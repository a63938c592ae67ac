package protocol

import (
	"cmp"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
	"github.com/rolemanager/rolemanager/internal/protocol/zone"
)

// considerHandover asks a live, eligible candidate that outranks us, and has done so for a while,
// whether it is ready.
func (m *Machine) considerHandover(r *role) {
	h, now := &r.term.handover, m.now.Observer
	if h.target != "" {
		return
	}
	m.notePresent(r)
	rival, later := m.challenger(r)
	switch {
	case rival == "":
		if h.rival = ""; later {
			m.wakeRole(r.RoleView, now.Add(m.cfg.TTL))
		}
		return
	case rival != h.rival:
		h.rival, h.since = rival, now
	}
	if due := max(h.notBefore, h.since.Add(2*m.cfg.Heartbeat)); now < due {
		m.wakeRole(r.RoleView, due)
		return
	}
	cause := Outranked
	if _, better := r.term.present.Since(rival); r.tier == zone.Drained {
		if cause = ZoneDrained; !m.mayLeave(r) {
			return
		}
	} else if better {
		cause = FailedBack
	}
	m.askReady(r, rival, cause, 0)
}

// outranks reports whether a candidate is to lead r in our place (P). Of a better tier it must have
// been there for a while (FailBackAfter); that is looked at again at due.
func (m *Machine) outranks(r *role, p *PeerView, said *record.Candidacy) (yes bool, due record.Instant) {
	switch {
	case said.Tier < r.tier:
		return false, view.Never
	case said.Tier == r.tier:
		return said.TakesOver() && said.Priority > r.rank, view.Never
	case r.tier == zone.Drained:
		return true, view.Never
	case r.failBack == 0:
		return false, view.Never
	}
	since, ok := r.term.present.Since(p.Peer.Instance)
	switch {
	case !ok && said.Eligible && p.Belongs(): // it is silent; that it is heard again is not told
		return false, m.now.Observer.Add(m.cfg.TTL)
	case !ok:
		return false, view.Never
	}
	due = since.Add(backsOf(&r.Role).Wait(r.failBack))
	return m.now.Observer >= due, due
}

// notePresent notes which candidates of better tiers are there.
func (m *Machine) notePresent(r *role) {
	if r.failBack == 0 {
		return
	}
	var there []zone.Candidate
	for _, p := range r.Candidates {
		if said, ok := p.Member.Candidacy(r.Name); p == m.self || !ok || said.Tier <= r.tier {
			continue
		}
		if c, ok := m.view.Contender(m.now.Observer, r.Name, p); ok {
			there = append(there, zone.Candidate{Instance: c.Instance, Session: c.Session, Since: p.EndSeen})
		}
	}
	r.term.present.Update(m.now.Observer, there)
}

// Operators tell something about a zone, or about a role.
const (
	steeredZone = "zone."
	steeredRole = "role."
)

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

// steered takes in that an operator has told something else about a zone or a role.
func (m *Machine) steered(name string) {
	for _, rv := range m.view.Roles() {
		r := rv.Notes.mine
		if r == nil || name != steeredZone+m.cfg.Zone && name != steeredRole+rv.Name {
			continue
		}
		before := r.rank
		if m.rankRole(r); r.rank != before {
			m.touchMember()
		}
		m.touchRole(rv)
	}
}

// mayLeave reports whether it is the turn of r, and notes that it waits.
func (m *Machine) mayLeave(r *role) bool {
	if m.evacuating.giving != r && m.evacuating.under() {
		m.evacuating.next.add(r)
		return false
	}
	m.evacuating.giving = r
	return true
}

// under reports whether a role is being given away. One whose work does not return keeps none of
// the others.
func (l *evacuation) under() bool {
	if l.giving == nil || l.giving.term == nil {
		return false
	}
	t := l.giving.term
	return t.leading() && t.handover.target != "" || t.cause == ZoneDrained && !t.stuck
}

// leaveNext lets the next one of them go.
func (m *Machine) leaveNext() {
	if l := &m.evacuating; l.next.len() > 0 && !l.under() {
		r := l.next.list[0]
		l.next.remove(r)
		m.touchRole(r.RoleView)
	}
}

func backsOf(rec *record.Role) zone.History {
	return zone.History{Failed: rec.FailBacks, Back: rec.FailedBack}
}

// failBacks is the history of fail-backs that a claim carries on. How long a dead leader has led at
// least, we know by when we saw its claim.
func (m *Machine) failBacks(r *role, handed bool) zone.History {
	switch {
	case r.Held():
		return backsOf(&r.Role).Ended(m.now.Observer.Sub(r.Seen), r.failBack)
	case r.Form == record.FormRecord:
		return backsOf(&r.Role).Claimed(handed)
	}
	return zone.History{}
}

// ownFailBacks is that history when we give a role up.
func (m *Machine) ownFailBacks(rv *RoleView) zone.History {
	h, r := backsOf(&rv.Role), rv.Notes.mine
	if r == nil || r.term == nil {
		return h.Ended(0, 0)
	}
	if h = h.Ended(r.term.ended.Sub(r.term.began), r.failBack); r.term.cause == FailedBack {
		h = h.Given()
	}
	return h
}

// challenger is the best of those that outrank us and take over. An instance that has declined
// comes after all the others, so that one which never confirms does not keep the role from the
// next. later says that one could become the challenger without any news: when its lease moves
// again, or it gives another role away.
func (m *Machine) challenger(r *role) (instance string, later bool) {
	h := &r.term.handover
	best, later := m.bestChallenger(r, h.declined)
	if best == "" && len(h.declined) > 0 {
		h.declined = nil
		return m.bestChallenger(r, nil)
	}
	return best, later
}

func (m *Machine) bestChallenger(r *role, but []string) (instance string, later bool) {
	var best view.Contender
	for _, p := range r.Candidates {
		said, ok := p.Member.Candidacy(r.Name)
		if p == m.self || !ok || slices.Contains(but, p.Peer.Instance) {
			continue
		}
		if yes, due := m.outranks(r, p, &said); !yes {
			m.wakeRole(r.RoleView, due)
			continue
		}
		c, ok := m.view.Contender(m.now.Observer, r.Name, p)
		if ok && m.wouldDecline(r, p) {
			later = true // it may give the role away that keeps it from ours
			continue
		}
		if !ok || !m.view.Heard(m.now.Observer, p) {
			later = true
		} else if best.Instance == "" || m.compareTargets(r, c, best) < 0 {
			best = c
		}
	}
	return best.Instance, later
}

// compareTargets orders those that r may be given to. A role that is spread goes to the one that
// leads the fewest of its group.
func (m *Machine) compareTargets(r *role, a, b view.Contender) int {
	if r.group == nil || a.Tier != b.Tier || a.Priority != b.Priority {
		return view.CompareContenders(&r.Role, a, b)
	}
	load := func(c view.Contender) int { return m.loadOf(r.group, m.view.Peer(record.Peer{Instance: c.Instance})) }
	return cmp.Or(cmp.Compare(load(a), load(b)), view.CompareContenders(&r.Role, a, b))
}

func (m *Machine) askReady(r *role, target string, cause Cause, command CommandID) {
	h := &r.term.handover
	h.target, h.cause, h.command = target, cause, command
	m.emit(Ask{target, Request{
		ID: m.cfg.NewID(), Op: OpReady, Role: r.Name, Epoch: r.term.epoch, Balance: cause == Balanced,
	}})
}

func (a Answered) apply(m *Machine) {
	r := m.part(a.Role)
	if r == nil || r.term == nil || !r.term.leading() || r.term.handover.target != a.Target {
		return
	}
	h := &r.term.handover
	if !a.OK && h.cause == Balanced {
		m.declinedBalance(r, a.Target)
		return
	}
	if !a.OK {
		h.declined = append(h.declined, a.Target)
		m.dropHandover(r, ErrDeclined)
		h.notBefore = m.now.Observer.Add(m.cfg.CoolDown)
		m.touchRole(r.RoleView)
		return
	}
	if h.command != 0 {
		r.term.waiting = append(r.term.waiting, h.command)
		h.command = 0
	}
	m.endTerm(r, h.cause, a.Target)
}

// dropHandover gives up asking, and answers the command with the reason.
func (m *Machine) dropHandover(r *role, err error) {
	h := &r.term.handover
	if h.command != 0 {
		m.emit(Done{ID: h.command, Err: err})
	}
	h.target, h.command, h.rival = "", 0, ""
}

func (t Transfer) apply(m *Machine) {
	r, err := m.commanded(t.Role, t.Epoch)
	switch {
	case err != nil:
	case r.term.handover.target != "":
		err = ErrBusy
	case !m.inLine(r, t.Target):
		err = ErrNotCandidate
	default:
		m.askReady(r, t.Target, Transferred, t.ID)
		return
	}
	m.emit(Done{ID: t.ID, Err: err})
}

func (s StepDown) apply(m *Machine) {
	r, err := m.commanded(s.Role, s.Epoch)
	if err != nil {
		m.emit(Done{ID: s.ID, Err: err})
		return
	}
	r.term.waiting = append(r.term.waiting, s.ID)
	cause := SteppedDown
	if s.Cause != 0 {
		cause = s.Cause
	}
	m.endTerm(r, cause, "")
}

// commanded finds the role that a command is about, which must be led here and now, at that epoch
// if one is given.
func (m *Machine) commanded(name string, epoch uint64) (*role, error) {
	r := m.part(name)
	switch {
	case r == nil || r.leaving != nil:
		return nil, ErrUnknownRole
	case r.term == nil || !r.term.leading():
		return nil, ErrNotLeader
	case epoch != 0 && epoch != r.term.epoch:
		return nil, ErrWrongEpoch
	}
	return r, nil
}

func (m *Machine) inLine(r *role, instance string) bool {
	for _, p := range r.Candidates {
		if p != m.self && p.Peer.Instance == instance {
			_, ok := m.view.Contender(m.now.Observer, r.Name, p)
			return ok
		}
	}
	return false
}
