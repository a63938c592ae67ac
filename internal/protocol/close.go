package protocol

import "github.com/rolemanager/rolemanager/internal/protocol/record"

func (c Close) apply(m *Machine) {
	due := m.now.Observer.Add(c.Timeout)
	if m.closing.asked {
		m.closing.due = min(m.closing.due, due)
		return
	}
	m.closing.asked, m.closing.due = true, due
	m.touchMember()
	m.endAll(SessionClosed)
	for _, rv := range m.view.Roles() {
		m.touchRole(rv)
	}
}

// tryClose ends the session in order: the member is marked as draining, every term drains and is
// vacated, the member record goes, and `closed` is written last, and only if every term has drained
// and no task runs any more. Else the session is left to be killed, so that stuck work keeps its
// time.
func (m *Machine) tryClose() {
	c, l := &m.closing, &m.lease
	switch over := m.now.Observer >= c.due; {
	case over:
		m.finish(nil)
	case m.phase != open:
		// A first beat that is acknowledged opens the session when the watch shows it, and a live
		// lease must not be left behind.
		if m.allDrained() && !l.inflight && l.acknowledged <= l.rev {
			m.finish(nil)
		}
	case m.active.len()+m.vacates > 0 || m.own.inflight || l.inflight || !m.due(&c.retry):
	case m.busy:
		m.finish(nil)
	case !c.farewell && m.self.Member != nil:
		c.farewell = true
		m.removeMember()
	case !c.quiet && l.aside:
		c.quiet = true
		m.removeIdleBeat()
	default:
		m.writeClosed()
	}
}

// removeIdleBeat leaves nothing of a session that was idle once. It may fail: the server expires
// what is left.
func (m *Machine) removeIdleBeat() {
	p := m.self
	m.lease.inflight = true
	m.put(pending{
		purpose: forFarewell, expect: p.Revision, stood: p.Revision,
		entry: record.Entry{Kind: record.KindIdle, Peer: p.Peer, Form: record.FormMarker},
	}, Write{
		Key: record.IdleKey(p.Peer), Delete: true, GuardKey: record.LeaseKey(p.Peer), GuardRevision: p.Revision,
		TTL: m.cfg.removal(),
	}, nil)
}

func (m *Machine) farewellWritten(mine bool) {
	if mine {
		m.lease.inflight = false
	}
}

func (m *Machine) removeMember() {
	p := m.self
	m.own.inflight, m.own.open = true, m.now.Observer
	m.put(pending{
		purpose: forMember, version: m.own.wanted, expect: p.MemberRevision, stood: p.MemberRevision,
		entry: record.Entry{Kind: record.KindMember, Peer: p.Peer, Form: record.FormMarker},
	}, Write{Key: record.MemberKey(p.Peer), Delete: true, TTL: m.cfg.removal()}, nil)
}

func (m *Machine) closedRecord() record.Lease {
	return record.Lease{V: record.Version, Session: m.lease.number, Nonce: m.lease.nonce, State: record.Closed}
}

// LastWill is the write that closes the lease of a machine which has failed, and the nonce of that
// lease. As ever it is sent only once all work of the session has returned. It is tried once: when
// it is refused or lost, the lease runs out. ok is false when no lease of ours is known to stand.
func (m *Machine) LastWill() (w Write, nonce string, ok bool) {
	p := m.self
	if m.phase != ended || m.closing.closed != "" || m.lease.number == 0 || p.Form != record.FormRecord ||
		!p.Lease.Alive() || p.Lease.Nonce != m.lease.nonce {
		return Write{}, "", false
	}
	return Write{
		Key: record.LeaseKey(p.Peer), Value: record.Encode(m.closedRecord()), Expect: p.Revision,
		Delete: true, TTL: m.cfg.tombstone(),
	}, m.lease.nonce, true
}

func (m *Machine) writeClosed() {
	m.lease.inflight = true
	rec := m.closedRecord()
	m.put(pending{
		purpose: forClose, expect: standing(m.self.Form, m.self.Revision), stood: m.self.Revision,
		entry: record.Entry{Kind: record.KindLease, Peer: m.self.Peer, Form: record.FormRecord, Lease: rec},
	}, Write{Key: record.LeaseKey(m.self.Peer), Delete: true, TTL: m.cfg.tombstone()}, rec)
}

func (m *Machine) closeWritten(p pending, w Written, mine bool) {
	if !mine {
		return
	}
	m.lease.inflight = false
	switch w.Outcome {
	case record.Won:
		m.closedSeen()
	case record.Refused:
		if m.closing.retry = (retry{}); m.self.Revision == p.stood {
			m.unexplained(&m.closing.retry)
		}
	case record.Unknown:
		m.unknown(&m.closing.retry, "close the session", "")
	}
}

// closedSeen: our own end is acknowledged, or the watch shows it before that.
func (m *Machine) closedSeen() {
	m.closing.closed = m.lease.nonce
	m.finish(nil)
}

// abandonCommands answers all commands that still wait.
func (m *Machine) abandonCommands() {
	abandon := func(ids ...CommandID) {
		for _, id := range ids {
			if id != 0 {
				m.emit(Done{ID: id, Err: ErrStopped})
			}
		}
	}
	for _, rv := range m.view.Roles() {
		r := rv.Notes.mine
		if r == nil {
			continue
		}
		if r.term != nil {
			abandon(r.term.handover.command)
			abandon(r.term.waiting...)
		}
		if r.leaving != nil {
			abandon(r.leaving.command)
		}
	}
	for _, q := range m.ready {
		abandon(q.command)
	}
	for _, p := range m.proofs {
		for _, q := range p.asking {
			abandon(q.command)
		}
	}
	for _, w := range m.own.waiting {
		abandon(w.command)
	}
}

// fail ends the machine for a fault that a retry does not fix.
func (m *Machine) fail(fault error) {
	if m.phase == ended {
		return
	}
	m.endAll(SessionLost)
	m.finish(fault)
}

// finish is the last thing a machine does.
func (m *Machine) finish(fault error) {
	m.phase = ended
	m.abandonCommands()
	m.emit(Ended{Undrained: m.undrained(), Closed: m.closing.closed, Fault: fault})
}
