package protocol

import (
	"cmp"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// groupOf is the group of that name, made on first mention.
func (m *Machine) groupOf(name string) *spreadGroup {
	for _, g := range m.spread.groups {
		if g.name == name {
			g.wrong = true
			return g
		}
	}
	g := &spreadGroup{name: name, wrong: true, again: view.Never, declined: map[string]refusals{}}
	m.unsettle(g)
	m.spread.groups = append(m.spread.groups, g)
	return g
}

// touchGroups notes that something was written of a role. Roles that we take no part in count, and
// those that are not spread: they are load of others.
func (m *Machine) touchGroups() {
	for _, g := range m.spread.groups {
		g.stale = true
	}
}

// noteSpread notes what changes plans: who lives, and who may take a role.
func (m *Machine) noteSpread(n view.Notice) {
	if len(m.spread.groups) == 0 {
		return
	}
	switch n := n.(type) {
	case view.MemberJoined:
		m.noteMember(n.Peer)
	case view.MemberLeft:
		m.noteMember(n.Peer)
	case view.CandidatesChanged:
		if rv := m.view.Role(n.Role); rv != nil && rv.Notes.mine != nil && rv.Notes.mine.group != nil {
			rv.Notes.mine.group.wrong = true
		}
	case view.LeaderChanged:
		if n.Leader != "" {
			m.noteTaken(m.view.Role(n.Role))
		}
	}
}

// noteMember notes that a member has come or gone. That is nothing to a group in which it spreads
// nothing.
func (m *Machine) noteMember(peer record.Peer) {
	if peer.Class != record.Candidate {
		return
	}
	p := m.view.Peer(peer)
	for _, g := range m.spread.groups {
		g.wrong = true
		if p != nil && spread.In(p.Member, g.name) || g.picture != nil && g.picture.Had(peer.Instance) {
			m.unsettle(g)
		}
	}
}

// noteTaken notes that somebody leads a role, and a plan says something else. So the plan of that
// one differs from ours, or is of another age, and roles that either leaves to the other would wait
// for a heartbeat. Vacant roles are dealt out again then. They are too when a role that was lost
// has a leader: the lost ones are claimed in another order than they are dealt. That may be
// ourselves: others have planned without our claim.
func (m *Machine) noteTaken(rv *RoleView) {
	for _, g := range m.spread.groups {
		if g.picture == nil || !rv.Held() || g.foresees(rv, m.view.Peer(rv.Role.Holder())) {
			continue
		}
		g.doubts, g.doubted = maxDoubts, m.now.Observer
		m.dealAgain(g)
	}
}

// dealAgain deals out the vacant roles of a group by a new plan, soon.
func (m *Machine) dealAgain(g *spreadGroup) {
	if g.taken || g.vacant == 0 {
		return
	}
	g.taken = true
	for i := range g.picture.Roles {
		if g.picture.Roles[i].At == spread.Nobody {
			m.touchRole(g.picture.Names[i])
		}
	}
}

// foresees reports whether a plan of a group says that a role is led by that member.
func (g *spreadGroup) foresees(rv *RoleView, leader *PeerView) bool {
	member, in := g.picture.Index(leader)
	i, ok := g.picture.Place(rv)
	if !in || !ok {
		return false
	}
	role := &g.picture.Roles[i]
	return !role.Waits && (member == role.At || member == g.plan.To[i])
}

// unsettle lets nothing of a group move for two heartbeats. Should one change follow another, that
// ends after a TTL, and roles may move for two heartbeats.
func (m *Machine) unsettle(g *spreadGroup) {
	now, rest := m.now.Observer, 2*m.cfg.Heartbeat
	end := g.changed.Add(m.cfg.TTL)
	if now >= g.settled && g.settled < end || now >= end.Add(rest) {
		g.changed, end = now, now.Add(m.cfg.TTL)
	}
	g.settled = min(now.Add(rest), end)
}

// replan makes the plan of a group again.
func (m *Machine) replan(g *spreadGroup) {
	if g.picture == nil {
		g.picture = spread.Of(m.view, m.now.Observer, g.name, m.aboutToLead)
	} else {
		g.picture.Look(m.view, m.now.Observer, m.aboutToLead)
	}
	g.plan = spread.Make(&g.picture.Group)
	if m.now.Observer < g.made.Add(2*m.gathering(g)) {
		g.row = min(g.row+1, maxRow)
	} else {
		g.row = 0
	}
	g.made, g.stale, g.wrong, g.taken = m.now.Observer, false, false, false
	g.again, g.vacant, g.moves = view.Never, 0, nil
	for i := range g.picture.Roles {
		if g.picture.Roles[i].At == spread.Nobody {
			g.vacant++
		}
	}
	if m.now.Observer >= g.doubted.Add(m.cfg.MaxTTL) { // what was vacant then has come due since
		g.doubts = 0
	}
	if g.vacant > 0 && g.doubts > 0 { // this plan, too, may be of another age than those of others
		g.doubts--
		m.dealAgain(g)
	}
	me, ok := g.picture.Index(m.self)
	if !ok {
		return
	}
	for i, to := range g.plan.To { // others were left to somebody else, and wait for that one
		if to == me && g.picture.Roles[i].At == spread.Nobody {
			m.touchRole(g.picture.Names[i])
		}
	}
	for _, move := range g.plan.Moves {
		if move.From == me {
			g.moves = append(g.moves, move)
		}
	}
	for target := range g.declined {
		if p := m.view.Peer(record.Peer{Class: record.Candidate, Instance: target}); p == nil || !p.Belongs() {
			delete(g.declined, target)
		}
	}
}

// aboutToLead is what we know beside the view: what we have claimed or promised to take, and what
// we are giving away.
func (m *Machine) aboutToLead(rv *RoleView) *PeerView {
	r := rv.Notes.mine
	switch {
	case r == nil:
		return nil
	case r.claim != nil || m.spread.promises.Holds(m.now.Observer, r.Name):
		return m.self
	case r.term == nil:
		return nil
	}
	next := r.term.next
	if r.term.leading() {
		next = r.term.handover.target
	}
	if next == "" {
		return nil
	}
	return m.view.Peer(record.Peer{Class: record.Candidate, Instance: next})
}

// planned is the place of a role in a plan of its group that is right.
func (m *Machine) planned(r *role) (i int, ok bool) {
	g := r.group
	if g.picture == nil || g.wrong || g.stale && m.now.Observer >= g.made.Add(m.cfg.Heartbeat) {
		m.replan(g)
		return g.picture.Place(r.RoleView)
	}
	i, ok = g.picture.Place(r.RoleView)
	if g.made == m.now.Observer || ok && !m.outdated(g, i, r.RoleView) {
		return i, ok
	}
	m.replan(g)
	return g.picture.Place(r.RoleView)
}

const (
	maxRow = 8 // plans in a row after which the time between them no longer doubles
	// maxDoubts is how many plans that deal out something follow one that others did not share. One
	// may be made before the claims of others are seen, as theirs may be before ours; also if
	// nothing is known to be vacant yet. A doubt ends after the longest lease time.
	maxDoubts = 3

	perRole = 250 * time.Microsecond
)

// gathering is for how long after a plan the roles that are vacant wait for the next one, so that
// it deals out all of them: a process that closes gives up many, one after the other, and processes
// that start together come one after the other. While one plan follows another the time doubles. A
// plan costs about a microsecond for each role, so planning takes half a percent of a processor, or
// more where a quarter of a heartbeat is less. Small groups are dealt out soon.
func (m *Machine) gathering(g *spreadGroup) time.Duration {
	first := min(m.cfg.Heartbeat/64, 10*time.Millisecond)
	if g.picture == nil {
		return first
	}
	return min(first<<g.row, m.cfg.Heartbeat/4, max(first, time.Duration(len(g.picture.Roles))*perRole))
}

// gathers is when a role is dealt out that has fallen vacant since the plan of its group was made,
// or that others may take since.
func (m *Machine) gathers(r *role) (until record.Instant, ok bool) {
	g := r.group
	if g.picture == nil || m.now.Observer >= g.made.Add(m.gathering(g)) {
		return 0, false
	}
	if i, ok := g.picture.Place(r.RoleView); ok && !g.wrong && !m.outdated(g, i, r.RoleView) {
		return 0, false
	}
	return g.made.Add(m.gathering(g)), true
}

// outdated reports whether a plan no longer says where a vacant role goes: the role has fallen
// vacant since, or the plan leaves it to another member, and others do not share it. A role that is
// given to a member needs no plan: many may be, one after the other.
func (m *Machine) outdated(g *spreadGroup, i int, rv *RoleView) bool {
	planned := &g.picture.Roles[i]
	_, given := m.givenTo(g, rv)
	return planned.Revision != rv.Revision && !given || planned.At != spread.Nobody && rv.Held() ||
		g.taken && !given && !m.dealsUs(g, i)
}

// dealsUs reports whether a plan deals a role to us.
func (m *Machine) dealsUs(g *spreadGroup, i int) bool {
	me, in := g.picture.Index(m.self)
	return in && g.plan.To[i] == me
}

// givenTo is the index of the member that a vacant role was given to, ok whether there is one.
func (m *Machine) givenTo(g *spreadGroup, rv *RoleView) (member int, ok bool) {
	peer := m.view.GivenTo(rv)
	if peer == nil {
		return 0, false
	}
	return g.picture.Index(peer)
}

// givenToUs reports whether a vacant role was given to us, and our group has a place for us.
func (m *Machine) givenToUs(r *role) bool {
	if r.group.picture == nil {
		return false
	}
	me, in := r.group.picture.Index(m.self)
	member, given := m.givenTo(r.group, r.RoleView)
	return in && given && member == me
}

// dealtDelay is how long we let others go first for a role that is spread. The member to which it
// is dealt claims it at once, and all others wait for that. Where a next plan is to come they wait
// no longer than for their turn by the present one: that member may take nothing of what is dealt
// to it, and one plan follow another.
func (m *Machine) dealtDelay(r *role) time.Duration {
	if m.givenToUs(r) {
		return 0
	}
	if until, ok := m.gathers(r); ok {
		since, _ := m.claimableSince(r.RoleView)
		next := until.Sub(since)
		if i, ok := r.group.picture.Place(r.RoleView); ok {
			next = min(next, m.turnBehind(r, i))
		}
		return next
	}
	i, ok := m.planned(r)
	if !ok { // we are looked at again when our member record is there
		return m.cfg.Heartbeat
	}
	at, to := r.group.picture.Roles[i].At, r.group.plan.To[i]
	if member, given := m.givenTo(r.group, r.RoleView); given {
		at, to = member, member
	}
	if me, in := r.group.picture.Index(m.self); in && (to == me || at == me) {
		return 0
	}
	return m.turnBehind(r, i)
}

// turnBehind is when it is our turn behind the member to which the present plan deals a role. That
// one may have many to claim. Should it have died, or see another picture, each of its roles goes
// to the first of another line.
func (m *Machine) turnBehind(r *role, i int) time.Duration {
	p := r.group.picture
	me, in := p.Index(m.self)
	if !in {
		return m.cfg.Heartbeat
	}
	role, to := &p.Roles[i], r.group.plan.To[i]
	if member, given := m.givenTo(r.group, r.RoleView); given {
		to = member
	}
	rank, all := 0, 0
	ranks := spread.RanksFor(r.Name)
	mine := ranks.Of(p.Members[me].Name)
	for other, takes := range role.May.Take {
		if !takes || other == me || other == to || m.isFull(p.Peers[other]) {
			continue
		}
		if all++; cmp.Or(
			cmp.Compare(role.May.Priority[me], role.May.Priority[other]),
			cmp.Compare(ranks.Of(p.Members[other].Name), mine)) < 0 {
			rank++
		}
	}
	return m.cfg.Heartbeat + m.queue(rank, all) + min(time.Duration(r.group.vacant)*time.Millisecond, m.cfg.TTL)
}
