package protocol

import (
	"bytes"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// touchMember says that the member record no longer says what is so.
func (m *Machine) touchMember() { m.own.wanted++ }

// writeMember writes the member record when it is out of date. It is one record with one write in
// flight for any number of roles; changes that come meanwhile go together.
func (m *Machine) writeMember() {
	o := &m.own
	if o.acked == o.wanted || o.inflight || m.closing.farewell || m.now.Observer < o.restoreAt || !m.due(&o.retry) {
		return
	}
	rec := &record.Member{
		V: record.Version, Session: m.lease.number, Roles: make(record.Candidacies, 0, len(m.view.Roles())),
		Meta: o.meta, Assign: o.assign, Told: o.told, Draining: m.closing.asked,
		Capacity: m.cfg.Capacity, MaxRoles: m.cfg.MaxRoles, Zone: m.cfg.Zone,
	}
	for _, rv := range m.view.Roles() {
		if r := rv.Notes.mine; r != nil && r.leaving == nil {
			rec.Roles = append(rec.Roles, record.RoleCandidacy{Role: rv.Name, Candidacy: record.Candidacy{
				Priority: r.rank, Takeover: r.takeover && len(r.zones) == 0, Over: r.takeover && len(r.zones) > 0, Tier: r.tier,
				Eligible: r.advertised, Spread: r.group != nil, Group: r.groupName, Waits: r.waitsFor(), Out: r.out.String(),
			}})
			if len(r.apart) > 0 {
				if rec.Apart == nil {
					rec.Apart = map[string][]string{}
				}
				rec.Apart[rv.Name] = r.apart
			}
		}
	}
	rec.Roles.Sort()
	o.inflight, o.open, o.said, o.saying = true, m.now.Observer, rec, o.wanted
	p := m.self
	m.put(pending{
		purpose: forMember, version: o.wanted, expect: m.ownMemberStands(), stood: p.MemberRevision,
		entry: record.Entry{Kind: record.KindMember, Peer: p.Peer, Form: record.FormRecord, Member: rec},
	}, Write{Key: record.MemberKey(p.Peer)}, rec)
}

// ownMemberStands is the revision at which our member record is expected to stand. Its removal
// leaves a marker, which the server soon takes away, and no watch tells of that.
func (m *Machine) ownMemberStands() uint64 {
	if p := m.self; p.MemberForm != record.FormMarker || p.MemberRevision != m.own.left {
		return standing(p.MemberForm, p.MemberRevision)
	}
	return 0
}

func (m *Machine) memberWritten(p pending, w Written, mine bool) {
	o := &m.own
	if !mine {
		return
	}
	if o.inflight = false; w.Outcome != record.Unknown {
		o.open = view.Never
	}
	switch w.Outcome {
	case record.Won:
		if p.overNothing() {
			m.unshown(&o.retry, m.self.MemberRevision != p.stood, m.cfg.TTL)
		} else if p.entry.Form == record.FormRecord {
			m.memberStored(p.version)
		}
	case record.Refused:
		switch o.retry = (retry{}); {
		case m.self.MemberRevision != p.stood:
		case m.self.MemberForm == record.FormMarker && p.expect == p.stood:
			o.left = p.stood // tried at once
		default:
			o.left = 0
			m.unexplained(&o.retry)
		}
	case record.Unknown:
		if w.TooLarge {
			m.memberRefused(p.version, w.Fault)
		}
		m.unknown(&o.retry, "write our member record", "")
	}
}

// memberRefused answers the command that has made the record too large for the server, and takes
// back what was described. The record that stands keeps its words, and what cannot be taken back is
// tried again: the limit may have fallen, and may rise.
func (m *Machine) memberRefused(version uint64, fault error) {
	o := &m.own
	o.tooLarge = true
	o.waiting = slices.DeleteFunc(o.waiting, func(a awaitedMember) bool {
		if a.version <= version {
			m.emit(Done{ID: a.command, Err: fault})
		}
		return a.version <= version
	})
	if stands := m.self.Member; stands != nil && stands.Session == m.lease.number {
		o.meta, o.assign, o.told = stands.Meta, stands.Assign, stands.Told
	}
	for _, r := range m.active.list { // a vacate may have waited for it
		m.touchRole(r.RoleView)
	}
}

// memberStored notes that a version of the record is known to be stored, and answers the commands
// that have waited for it.
func (m *Machine) memberStored(version uint64) {
	o := &m.own
	o.retry, o.acked, o.tooLarge = retry{}, max(o.acked, version), false
	o.waiting = slices.DeleteFunc(o.waiting, func(a awaitedMember) bool {
		if a.version > o.acked {
			return false
		}
		m.emit(Done{ID: a.command})
		return true
	})
	for _, r := range m.active.list { // a vacate may wait for this
		m.touchRole(r.RoleView)
	}
}

// seenOwnMember restores the record when somebody has removed or changed it: at once, and not twice
// within a heartbeat. Another process of our name may trust a session of its own, and does the
// same, if the store has lost the record that decides.
func (m *Machine) seenOwnMember(e *record.Entry) {
	o := &m.own
	if e.Revision <= m.self.MemberRevision || m.phase != open {
		return
	}
	if o.retry.refused {
		o.retry = retry{}
	}
	switch {
	case e.Form != record.FormRecord || o.said == nil || !bytes.Equal(record.Encode(e.Member), record.Encode(o.said)):
		m.touchMember()
		if o.restoreAt <= m.now.Observer {
			o.restoreAt = max(m.now.Observer, o.restoreAt.Add(m.cfg.Heartbeat))
		}
	case o.saying > o.acked: // its acknowledgement was lost, or comes after this
		m.memberStored(o.saying)
	}
}

// missOwnMember restores the record when a whole snapshot has shown that it is gone: nothing need
// tell of its removal.
func (m *Machine) missOwnMember() {
	if m.phase == open && m.self.MemberForm == record.FormMissing {
		m.touchMember()
	}
}

// dropMember forgets what the former session said; the next one says it again under its own number.
func (m *Machine) dropMember() {
	o := &m.own
	o.acked, o.inflight, o.open, o.retry, o.said = 0, false, view.Never, retry{}, nil
	o.wanted++
}

func (d Describe) apply(m *Machine) {
	if d.Meta != nil {
		m.own.meta = d.Meta
	}
	if d.Assign != nil {
		m.own.assign = d.Assign
	}
	if d.Told != nil {
		m.own.told = d.Told
	}
	m.touchMember()
	if d.ID != 0 {
		m.own.waiting = append(m.own.waiting, awaitedMember{d.ID, m.own.wanted})
	}
}
