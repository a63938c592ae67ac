package protocol

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// wake tells the instance that follows in a role that its work has begun to drain, so that its
// session is on short beats when the role is given away. Otherwise its claim would wait for one,
// to the store and back. Nobody waits for an answer, and a message that is lost costs that beat
// alone.
//
// An instance that was asked whether it is ready is awake. One is told once in a heartbeat, however
// many roles it follows in: it stays awake for a TTL.
func (m *Machine) wake(r *role) {
	t := r.term
	switch t.cause {
	case SessionLost, Disconnected, Evicted:
		return // there is nothing to give away, or nobody is reached
	}
	if t.next != "" || r.leaving != nil && !r.leaving.vacate {
		return
	}
	next := m.view.Successor(m.now.Observer, r.RoleView)
	p := m.view.Peer(record.Peer{Class: record.Candidate, Instance: next})
	if next == "" || p == nil || p == m.self || m.now.Holder < p.Notes.woken {
		return
	}
	p.Notes.woken = m.now.Holder.Add(m.cfg.Heartbeat)
	m.emit(Wake{next, Request{
		ID: m.cfg.NewID(), Op: OpReady, Role: r.Name, Epoch: t.epoch, Wake: true,
	}})
}
