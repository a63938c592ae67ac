package protocol

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// proof is a question whether a term is the present one. A heartbeat proves that the session lives,
// a write guarded by the role's revision that the role is still ours; nothing less proves
// leadership now.
type proof struct {
	command CommandID
	role    string
	term    uint64
	beat    uint64 // a beat after this one must be acknowledged first
	epoch   uint64 // that guarded the write
}

func (v Validate) apply(m *Machine) {
	r, err := m.commanded(v.Role, 0)
	if err != nil {
		m.emit(Done{ID: v.ID, Err: err})
		return
	}
	if v.Term != 0 && v.Term != r.term.id {
		m.emit(Done{ID: v.ID, Err: ErrNotLeader})
		return
	}
	m.proofs = append(m.proofs, proof{command: v.ID, role: v.Role, term: r.term.id, beat: m.lease.beat})
}

// proofWaits reports whether a proof needs a beat that has not been sent.
func (m *Machine) proofWaits() bool {
	return len(m.proofs) > 0 && m.proofs[len(m.proofs)-1].beat == m.lease.beat
}

// prove sends the guarded write of every proof whose beat was acknowledged.
func (m *Machine) prove() {
	m.proofs = slices.DeleteFunc(m.proofs, func(p proof) bool {
		if m.lease.acked <= p.beat {
			return false
		}
		r := m.termOf(p.role, p.term)
		if r == nil || !r.term.leading() {
			m.emit(Done{ID: p.command, Err: ErrNotLeader})
			return true
		}
		p.epoch = r.term.epoch
		m.put(pending{purpose: forProof, proof: p}, Write{
			Key: record.ProbeKey(m.cfg.Instance), TTL: probeTTL, GuardKey: record.RoleKey(p.role), GuardRevision: r.term.epoch,
		}, nil)
		return true
	})
}

func (m *Machine) probeWritten(p pending, w Written) {
	r := m.termOf(p.proof.role, p.proof.term)
	err := error(nil)
	switch {
	case r == nil || !r.term.leading() || !m.trusted():
		err = ErrNotLeader
	case w.Outcome == record.Refused && r.term.epoch != p.proof.epoch: // by a rotation of our own: once more, at its epoch
		m.proofs = append(m.proofs, p.proof)
		return
	case w.Outcome == record.Unknown, w.Outcome == record.Refused && r.term.rotating != "":
		err = ErrUnproven
	case w.Outcome == record.Refused: // proof of the contrary
		m.endTerm(r, Evicted, "")
		err = ErrNotLeader
	}
	m.emit(Done{ID: p.proof.command, Err: err})
}

// dropProofs answers what a lost session can no longer prove.
func (m *Machine) dropProofs() {
	for _, p := range m.proofs {
		m.emit(Done{ID: p.command, Err: ErrUnproven})
	}
	m.proofs = nil
}
