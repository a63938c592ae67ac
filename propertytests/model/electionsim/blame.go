package electionsim

import (
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// blame has a process report that no other idle session in its view answers. Most of them live: a
// message was lost.
func (p *process) blame() {
	if !p.alive || p.paused || p.plan.Worker {
		return
	}
	var idle []protocol.Unanswered
	for _, q := range p.m.View().Peers() {
		if q.Form == record.FormRecord && q.Lease.State == record.Idle && q.Peer != p.peer() {
			idle = append(idle, protocol.Unanswered{Peer: q.Peer, Session: q.Session()})
			p.blamed[q.Revision] = true
		}
	}
	for _, u := range idle {
		p.w.Counts.Blamed++
		p.hand(u)
	}
}

// checkAtRest: a session that was ended at rest has nothing at work, and nothing of it begins later
// (checkAwake). So others take back what they gave it, as never begun.
func (w *world) checkAtRest(c *commit) {
	if !c.entry.Lease.AtRest {
		return
	}
	w.Counts.AtRest++
	for _, p := range w.members {
		if p.alive && p.peer() == c.entry.Peer && p.working != 0 && p.working == c.entry.Lease.Session {
			w.violate("I1: %s is on an errand, and its session is ended as one at rest: %s", p, c)
		}
	}
}
