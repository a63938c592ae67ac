package protocol

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// maxReady bounds the questions that wait at one time; more are declined.
const maxReady = 1024

func (a Asked) apply(m *Machine) {
	q := a.Request
	switch q.Op {
	case OpStepDown:
		StepDown{ID: a.ID, Role: q.Role, Epoch: q.Epoch}.apply(m)
	case OpTransfer:
		Transfer{ID: a.ID, Role: q.Role, Epoch: q.Epoch, Target: q.Target}.apply(m)
	case OpPause:
		Pause{a.ID, q.Role}.apply(m)
	case OpResume:
		Resume{a.ID, q.Role}.apply(m)
	case OpReady:
		m.askedReady(a.ID, &q)
	default:
		m.emit(Done{ID: a.ID, Err: ErrUnknownOp})
	}
}

// askedReady keeps the session on short beats for a while, so that the claim that follows a yes
// goes out at once.
func (m *Machine) askedReady(id CommandID, q *Request) {
	r := m.part(q.Role)
	if r == nil || !r.advertised || r.term != nil || m.phase != open || m.closing.asked || len(m.ready) >= maxReady {
		m.emit(Done{ID: id, Err: ErrNotCandidate})
		return
	}
	m.readyUntil = m.now.Holder.Add(m.cfg.TTL)
	m.ready = append(m.ready, readyAsk{id, q.Role, q.Balance, q.Wake, m.now.Holder.Add(m.cfg.OpTimeout)})
}

// answerReady says yes as soon as a claim of ours would be trusted, no when that takes too long.
func (m *Machine) answerReady() {
	kept := m.ready[:0]
	for _, q := range m.ready {
		r := m.part(q.role)
		switch {
		case r == nil || !r.advertised || m.now.Holder >= q.until:
			m.emit(Done{ID: q.command, Err: ErrDeclined})
		case m.canAct():
			m.emit(Done{ID: q.command, Err: m.admit(r, &q)})
		default:
			kept = append(kept, q)
		}
	}
	m.ready = kept
}

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

// remind asks the instance that has agreed to take a role again while the work drains, so that its
// promise does not end before that: it would agree to take another role in place of ours. Its
// answer changes nothing here. Work that is stuck may never return, so nobody is reminded of it;
// nor is a later session, which has agreed to nothing, nor anybody of a role that is not ours to
// give.
func (m *Machine) remind(r *role) {
	t := r.term
	if t.next == "" || t.drained || t.stuck || t.session != m.lease.number || !m.names(r.RoleView) ||
		t.agreed != m.sessionOf(t.next) {
		return
	}
	if p := m.view.Peer(record.Peer{Class: record.Candidate, Instance: t.next}); p == nil || p.Member == nil ||
		r.group == nil && p.Member.MaxRoles == 0 { // it counts nothing
		return
	}
	due := t.asked.Add(m.cfg.OpTimeout)
	if m.now.Observer >= due {
		t.asked, due = m.now.Observer, m.now.Observer.Add(m.cfg.OpTimeout)
		m.emit(Ask{t.next, Request{
			ID: m.cfg.NewID(), Op: OpReady, Role: r.Name, Epoch: t.epoch, Balance: t.cause == Balanced,
		}})
	}
	m.wakeRole(r.RoleView, due)
}

// sessionOf is the present session of a candidate, as far as we know.
func (m *Machine) sessionOf(instance string) uint64 {
	if p := m.view.Peer(record.Peer{Class: record.Candidate, Instance: instance}); p != nil {
		return p.Session()
	}
	return 0
}
