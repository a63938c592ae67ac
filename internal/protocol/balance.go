package protocol

import (
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// How many roles of a group a leader gives away at the same time: one, and a few of one that has a
// name, as shards have.
const (
	burst      = 1
	shardBurst = 4
)

const maxRefusals = 6 // a target that says no is left out for 64 heartbeats at most

func (g *spreadGroup) burst() int {
	if g.name == "" {
		return burst
	}
	return shardBurst
}

// balance gives away what our plans move (S3).
func (m *Machine) balance() {
	if m.leading == 0 || m.closing.asked {
		return
	}
	for _, g := range m.spread.groups {
		if m.now.Observer < g.settled {
			continue
		}
		if m.now.Observer >= m.balanceDue(g) {
			m.replan(g)
		}
		m.moveSome(g)
	}
}

// balanceDue is when to look whether something moves, by a new plan.
func (m *Machine) balanceDue(g *spreadGroup) record.Instant {
	due := g.again
	if g.stale || g.wrong || g.picture == nil {
		due = min(due, g.made.Add(m.cfg.Heartbeat))
	}
	if g.picture == nil {
		due = g.settled
	}
	return max(due, g.settled)
}

// moveSome makes the moves of a plan, a few at a time, those first that can be made now.
func (m *Machine) moveSome(g *spreadGroup) {
	m.forgetGiven(g)
	if len(g.moves) == 0 || len(g.giving) >= g.burst() {
		return
	}
	var later []spread.Move
	for i, move := range g.moves {
		if len(g.giving) >= g.burst() {
			later = append(later, g.moves[i:]...)
			break
		}
		switch wait := m.tryMove(g, move); {
		case wait == nil:
		case *wait <= m.now.Observer: // it depends on somebody else's move
			g.stale = true
		default:
			g.again = min(g.again, *wait)
		}
	}
	g.moves = later
}

// forgetGiven drops the roles that are given, or are not given away after all. A role that we have
// left and joined again meanwhile continues its term.
func (m *Machine) forgetGiven(g *spreadGroup) {
	kept := g.giving[:0]
	for _, r := range g.giving {
		if r = r.Notes.mine; r == nil || r.group != g || r.term == nil {
			continue
		}
		if t := r.term; t.leading() && t.handover.target != "" || t.cause == Balanced {
			kept = append(kept, r)
		}
	}
	clear(g.giving[len(kept):])
	g.giving = kept
}

// tryMove asks the target of a move whether it takes the role. A move that cannot be made now is
// looked at again at the time that it returns.
func (m *Machine) tryMove(g *spreadGroup, move spread.Move) *record.Instant {
	r, target := g.picture.Names[move.Role].Notes.mine, g.picture.Peers[move.To]
	now := m.now.Observer
	switch {
	case r == nil || r.leaving != nil:
		return nil
	case r.claim != nil: // the plan has it among ours, and its term has not begun
		soon := now.Add(m.cfg.Heartbeat)
		return &soon
	case r.term == nil || !r.term.leading() || r.term.handover.target != "":
		return nil
	}
	wait := max(r.Notes.rests, g.declined[target.Peer.Instance].until)
	if _, ok := m.view.Contender(now, r.Name, target); !ok || !m.view.Heard(now, target) {
		wait = max(wait, now.Add(m.cfg.Heartbeat))
	}
	if wait > now {
		return &wait
	}
	if m.loadOf(g, target) >= g.plan.Room(move.To) {
		return &now
	}
	g.giving = append(g.giving, r)
	m.askReady(r, target.Peer.Instance, Balanced, 0)
	return nil
}

// declinedBalance leaves a target out for a time that doubles. It sees more roles with it than we
// do. Meanwhile no candidate that outranks us was asked.
func (m *Machine) declinedBalance(r *role, target string) {
	rival := r.term.handover.rival
	m.dropHandover(r, ErrDeclined)
	r.term.handover.rival = rival
	m.touchRole(r.RoleView)
	g := r.group
	if g == nil {
		return
	}
	d := g.declined[target]
	d.until = m.now.Observer.Add(m.cfg.Heartbeat << min(d.times, maxRefusals))
	d.times++
	g.declined[target] = d
	g.again = min(g.again, d.until)
}

// balanceAhead calls ahead with each time at which something may move.
func (m *Machine) balanceAhead(ahead func(record.Instant)) {
	if m.leading == 0 || m.closing.asked {
		return
	}
	for _, g := range m.spread.groups {
		if due := m.balanceDue(g); due != view.Never {
			ahead(due)
		}
	}
}
