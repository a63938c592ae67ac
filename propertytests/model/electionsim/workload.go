package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// labour has a process do something for a while that takes a session and no role: a task. It is
// begun as soon as the machine says that it may be, and ends with the session, or when the process
// knows that the session is over.
func (p *process) labour(d time.Duration) {
	if p.closing || p.paused { // nor does what it would be begun by continue then
		return
	}
	p.workload++
	p.hand(protocol.Busy{Busy: true})
	p.w.after(d, p.endWork(p.life))
}

// endWork is the end of one piece of work. A paused process does not come to it.
func (p *process) endWork(life int) func() {
	return func() {
		switch {
		case p.life != life:
		case p.paused:
			p.w.after(50*time.Millisecond, p.endWork(life))
		default:
			if p.workload--; p.workload == 0 {
				p.working = 0
			}
			p.hand(protocol.Busy{Busy: p.workload > 0})
		}
	}
}

// takeUp begins what waits for the session to be awake.
func (p *process) takeUp() {
	if p.workload > 0 && p.working == 0 && !p.closing && p.m.Awake() {
		p.working = p.session
		p.w.Counts.Workloads++
		p.checkAwake("work")
	}
}

// checkWorkload: a session under which something is done says neither that it is idle nor that it
// is closed.
func (p *process) checkWorkload(c *commit) {
	if l := c.entry.Lease; p.working != 0 && p.working == l.Session &&
		(l.State == record.Idle || l.State == record.Closed) {
		p.w.violate("I1: %s is at work, and its lease says that it is %s: %s", p, l.State, c)
	}
}

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
			w.violate("I1: %s is at work, and its session is ended as one at rest: %s", p, c)
		}
	}
}
