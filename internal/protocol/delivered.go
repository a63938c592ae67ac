package protocol

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Delivered is an entry that the watch has delivered. The machine does not keep a pointer to it.
type Delivered struct{ *record.Entry }

func (d Delivered) apply(m *Machine) {
	e := d.Entry
	if m.slow {
		m.hurry(slowAfter)
	}
	if m.backdated(e) || slices.Contains(m.below, e.Revision) {
		m.fail(ErrStoreRegressed)
		return
	}
	m.noteProgress(e)
	if e.Kind == record.KindLease && e.Peer == m.self.Peer {
		m.seenOwnLease(e)
	}
	if e.Kind == record.KindIdle && e.Peer == m.self.Peer {
		m.seenOwnIdleBeat(e)
	}
	if e.Kind == record.KindMember && e.Peer == m.self.Peer {
		m.seenOwnMember(e)
	}
	m.view.Deliver(m.now.Observer, e, &m.news)
	if m.view.Regressed() {
		m.fail(ErrStoreRegressed)
		return
	}
	m.tellShown(e.Revision)
	m.takeBackOvertaken()
	switch e.Kind {
	case record.KindLease:
		m.reviewOwnLease(e)
	case record.KindIdle:
		if e.Peer == m.self.Peer && m.phase == opening {
			m.rivalMoved(e.Revision)
		}
	}
}

// backdated reports whether e is a beat, a claim or a rotation of ours that stands at or below what
// was known when it was sent: so what was known is lost. Its acknowledgement, which says the same,
// need not have come.
func (m *Machine) backdated(e *record.Entry) bool {
	if e.Form != record.FormRecord {
		return false
	}
	switch {
	case e.Kind == record.KindLease && e.Peer == m.self.Peer && e.Lease.Nonce == m.lease.nonce:
		return slices.ContainsFunc(m.lease.attempts, func(a attempt) bool {
			return a.beat == e.Lease.Beat && e.Revision <= a.known
		})
	case e.Kind == record.KindRole && e.Role.Token != "":
		r := m.view.Role(e.Name)
		return r != nil && r.Notes.token == e.Role.Token && e.Revision <= r.Notes.known
	}
	return false
}
