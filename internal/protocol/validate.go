package protocol

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

func (v Validate) apply(m *Machine) {
	r, err := m.commanded(v.Role, 0)
	if err == nil && v.Term != 0 && v.Term != r.term.id {
		err = ErrNotLeader
	}
	if err != nil {
		m.emit(Done{ID: v.ID, Err: err})
		return
	}
	i := slices.IndexFunc(m.proofs, func(p *proof) bool { return p.role == v.Role && p.term == r.term.id && !p.sent })
	if i < 0 {
		i = len(m.proofs)
		m.proofs = append(m.proofs, &proof{role: v.Role, term: r.term.id})
	}
	m.proofs[i].asking = append(m.proofs[i].asking, question{v.ID, m.now.Holder})
}

// alive reports whether the session is proved by a heartbeat of the last interval.
func (m *Machine) alive() bool { return m.now.Holder <= m.lease.sent.Add(m.cfg.Heartbeat) }

// proofWaits reports whether a proof needs a beat before it can be sent.
func (m *Machine) proofWaits() bool { return !m.alive() && slices.ContainsFunc(m.proofs, m.provable) }

// provable reports whether the write of a proof may be sent now, as far as other proofs of its role
// and earlier attempts go.
func (m *Machine) provable(p *proof) bool {
	return !p.sent && m.now.Observer >= p.after &&
		!slices.ContainsFunc(m.proofs, func(q *proof) bool { return q.sent && q.role == p.role })
}

// prove sends the guarded write of every proof that may be sent, and answers those whose term is
// over.
func (m *Machine) prove() {
	m.proofs = slices.DeleteFunc(m.proofs, func(p *proof) bool {
		if r := m.termOf(p.role, p.term); !p.sent && (r == nil || !r.term.leading()) {
			m.answerProof(p, ErrNotLeader)
			return true
		}
		return false
	})
	if !m.alive() {
		return
	}
	for _, p := range m.proofs {
		if !m.provable(p) {
			continue
		}
		p.sent, p.epoch = true, m.termOf(p.role, p.term).term.epoch
		m.put(pending{purpose: forProof, proof: p}, Write{
			Key: record.ProbeKey(m.cfg.Instance), TTL: probeTTL, GuardKey: record.RoleKey(p.role), GuardRevision: p.epoch,
		}, nil)
	}
}

func (m *Machine) answerProof(p *proof, err error) {
	for _, q := range p.asking {
		m.emit(Done{ID: q.command, Err: err})
	}
}

// probeWritten decides. Without an outcome the write is tried again for an interval: on replicas it
// may have met another write that is guarded by the same record, which says nothing.
func (m *Machine) probeWritten(p *proof, w Written) {
	i := slices.Index(m.proofs, p)
	if i < 0 {
		return // answered when the session was lost
	}
	r := m.termOf(p.role, p.term)
	err := error(nil)
	switch {
	case r == nil || !r.term.leading() || !m.trusted():
		err = ErrNotLeader
	case w.Outcome == record.Refused && r.term.epoch != p.epoch: // by a rotation of our own: again, at its epoch
		p.sent = false
		return
	case w.Outcome == record.Unknown, w.Outcome == record.Refused && r.term.rotating != "":
		if m.proveAgain(p) {
			return
		}
	case w.Outcome == record.Refused: // proof of the contrary
		m.endTerm(r, Evicted, "")
		err = ErrNotLeader
	}
	m.proofs = slices.Delete(m.proofs, i, i+1)
	m.answerProof(p, err)
}

// provings is how many times a proof is tried in an interval, at most. On replicas the server
// refuses a guard whose record is being written, so beside a busy writer many tries fail.
const provings = 16

// proveAgain gives up on the questions that are older than an interval, and reports whether others
// are left.
func (m *Machine) proveAgain(p *proof) bool {
	p.asking = slices.DeleteFunc(p.asking, func(q question) bool {
		old := m.now.Holder >= q.asked.Add(m.cfg.Heartbeat)
		if old {
			m.emit(Done{ID: q.command, Err: ErrUnproven})
		}
		return old
	})
	p.tries++
	p.sent, p.after = false, m.now.Observer.Add(min(m.cfg.backoff(p.tries), m.cfg.Heartbeat/provings))
	return len(p.asking) > 0
}

// dropProofs answers what a lost session can no longer prove.
func (m *Machine) dropProofs() {
	for _, p := range m.proofs {
		m.answerProof(p, ErrUnproven)
	}
	m.proofs = nil
}
