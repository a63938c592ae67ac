package protocol

import (
	"cmp"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
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

// expect has the record of a term looked for when the watch comes to a later revision.
func (m *Machine) expect(epoch uint64, rv *RoleView) {
	i, _ := slices.BinarySearchFunc(m.undelivered, epoch,
		func(u undelivered, epoch uint64) int { return cmp.Compare(u.revision, epoch) })
	m.undelivered = slices.Insert(m.undelivered, i, undelivered{epoch, rv})
}

// expectAll does that for all records that a whole snapshot has not shown.
func (m *Machine) expectAll() {
	m.undelivered = m.undelivered[:0]
	for _, rv := range m.view.Roles() {
		if rv.Notes.mine != nil && rv.Revision > rv.Delivered {
			m.undelivered = append(m.undelivered, undelivered{rv.Revision, rv})
		}
	}
	slices.SortFunc(m.undelivered, func(a, b undelivered) int { return cmp.Compare(a.revision, b.revision) })
}

// takeBackOvertaken takes back the records that the watch has passed.
func (m *Machine) takeBackOvertaken() {
	if !m.view.Whole() {
		return
	}
	n := 0
	var open []undelivered
	for ; n < len(m.undelivered) && m.undelivered[n].revision <= m.view.Delivered(); n++ {
		u := m.undelivered[n]
		switch {
		case u.role.Revision != u.revision: // another one is known already
		case u.role.Delivered >= u.revision:
		case m.rotatesStill(u.role.Notes.mine):
			open = append(open, u)
		default:
			m.takeBack(u.role)
		}
	}
	m.undelivered = slices.Insert(m.undelivered[n:], 0, open...)
	m.takeBackOwnMember()
}

// takeBackIfOvertaken does it with a record that is known by its acknowledgement only when the
// watch has passed it.
func (m *Machine) takeBackIfOvertaken(rv *RoleView, revision uint64) {
	switch {
	case rv == nil || !m.view.Whole() || rv.Revision != revision || rv.Delivered >= revision ||
		revision > m.view.Delivered():
	case !m.rotatesStill(rv.Notes.mine):
		m.takeBack(rv)
	}
}

// takeBack makes what is known of a role unknown. An older record may be there. Nobody claims the
// role earlier than with this record: a leader that the older one names may lead for its lease
// time.
func (m *Machine) takeBack(rv *RoleView) {
	free, is := m.freeSince(rv)
	if !is && rv.Held() && rv.Role.Holder() != m.self.Peer {
		free = m.now.Observer.Add(rv.Role.TTL())
	}
	rv.Waits = max(rv.Waits, free)
	m.view.TakeBack(m.now.Observer, rv, &m.news)
	if rv.Delivered > 0 {
		m.rebuild("a record that was known does not stand")
	}
}

// takeBackOwnMember does the same with our own member record: without it nobody counts on us. A
// later one of ours may stand in its place while the outcome of that write is open.
func (m *Machine) takeBackOwnMember() {
	p := m.self
	shown := p.MemberSeen >= p.MemberRevision && m.view.Current(p)
	passed := p.MemberForm == record.FormRecord && !shown && p.MemberRevision <= m.view.Delivered()
	if passed && !m.mayHaveReplacedMember() {
		m.view.TakeBackMember(p, &m.news)
		m.touchMember()
		m.rebuild("our member record does not stand")
	}
}

// mayHaveReplacedMember reports whether a member record of ours may have been stored, and is not
// known.
func (m *Machine) mayHaveReplacedMember() bool {
	return m.own.open != view.Never && m.now.Observer < m.own.open.Add(m.cfg.TTL-m.cfg.Margin)
}

// rotatesStill reports whether a rotation of a role may have been stored, and is not known.
func (m *Machine) rotatesStill(r *role) bool {
	return r != nil && r.term != nil &&
		r.term.rotating != "" && m.now.Observer < r.term.rotatingSince.Add(m.cfg.TTL-m.cfg.Margin)
}

// mayHaveReplaced reports whether an open write of ours, a rotation or a claim, may stand in the
// place of a role's record.
func (m *Machine) mayHaveReplaced(rv *RoleView) bool {
	r := rv.Notes.mine
	return m.rotatesStill(r) || r != nil && r.claim != nil && m.now.Observer < r.claim.sent.Add(m.cfg.TTL-m.cfg.Margin)
}
