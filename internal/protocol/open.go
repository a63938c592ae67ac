package protocol

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// maxMoves is how often a rival may move until it is a duplicate of us and not the remains of a
// crash.
const maxMoves = 3

// movesApart is by which part of its lease a rival's moves must be apart to count. Heartbeats are a
// fifth of it apart, if nothing else is asked for.
const movesApart = 10

// keptNonces bounds the memory of former sessions. One that fell out of it costs a wait, as for
// anybody's lease.
const keptNonces = 16

// tryOpen writes our lease where the rule allows it: over nothing, over an ended session, or over a
// former session of this very process. Over anything else the wait and the kill of K come first.
func (m *Machine) tryOpen() {
	if m.closing.asked || m.lease.inflight || !m.due(&m.lease.retry) {
		return
	}
	switch p := m.self; p.Form {
	case record.FormNone:
	case record.FormNewer:
		m.fail(ErrNewerRecord)
		return
	case record.FormRecord:
		if p.Lease.Alive() && !(slices.Contains(m.past, p.Lease.Nonce) && m.formerIsOver()) {
			return
		}
	default:
		return
	}
	m.beat(true)
}

// formerIsOver reports whether a former session of this process may be replaced: at once when its
// work has stopped, else when anybody else might have killed it, so that work which ignores its
// context keeps its time.
func (m *Machine) formerIsOver() bool {
	return m.allDrained() || m.now.Observer >= m.formerDue()
}

func (m *Machine) formerDue() record.Instant { return m.opening.lastSent.Add(m.opening.lastTTL) }

// opened begins the session whose first write stands at rev.
func (m *Machine) opened(rev uint64) {
	m.phase = open
	m.lease.number = rev
	m.opening = openState{
		lastSent: m.opening.lastSent, lastTTL: m.cfg.TTL, begun: m.opening.begun, revoked: m.opening.revoked,
	}
	m.emit(Opened{rev})
	m.touchMember()
	for _, p := range m.view.Peers() {
		m.touchPeer(p)
	}
	for _, r := range m.view.Roles() {
		m.touchRole(r)
	}
}

// lose ends the session for good: every term ends, and a new session is opened as soon as the rule
// allows.
func (m *Machine) lose(reason string) {
	number := m.lease.number
	m.phase = opening
	m.disown()
	m.endAll(SessionLost)
	m.dropClaims()
	m.dropMember()
	m.dropProofs()
	m.keptRoles.clear()
	m.vacates = 0
	for _, r := range m.view.Roles() { // whatever waited for the session to do something waits for it no longer
		m.touchRole(r)
	}
	m.touchPeer(m.self) // what stands at our key may have to be waited for
	m.emit(Lost{number, reason})
}

// revoked ends the session that an operator has taken our lease from, and opens no other one before
// there is a new watch: the bucket may be about to become another one.
func (m *Machine) revoked(e *record.Entry) {
	if e.Revision <= m.opening.revoked { // a new watch has shown it again
		return
	}
	if m.phase == open {
		m.lose("revoked by " + e.Lease.By)
	}
	m.opening.revoked = e.Revision
	m.phase = syncing
	m.rebuild("our lease was revoked")
}

// disown begins a new incarnation: whatever the old one still has under way is no longer ours.
func (m *Machine) disown() {
	m.past = append(m.past, m.lease.nonce)
	if len(m.past) > keptNonces {
		m.past = slices.Delete(m.past, 0, 1)
	}
	m.lease = lease{generation: m.lease.generation + 1, nonce: m.cfg.NewID(), shown: longAgo, seenShort: longAgo}
}

// rivalMoved counts how often a lease under our id moves that is not ours, by a beat that stands at
// rev. A replica that lags shows the last beats of a crashed process in turn. So one that stood
// there before the watch began does not count, nor one that comes right after another: who told us
// where the watch began may have lagged too.
func (m *Machine) rivalMoved(rev uint64) {
	p := m.self
	if p.Form != record.FormRecord || !p.Lease.Alive() || slices.Contains(m.past, p.Lease.Nonce) {
		return
	}
	if p.Revision == m.opening.rivalRev && p.IdleBeat() == m.opening.rivalAt {
		return
	}
	m.opening.rivalRev, m.opening.rivalAt = p.Revision, p.IdleBeat()
	if p.Lease.Nonce != m.opening.rival {
		m.opening.rival, m.opening.moves, m.opening.movedAt = p.Lease.Nonce, 0, m.now.Observer
		return
	}
	if rev <= m.opening.begun {
		m.opening.movedAt = m.now.Observer
		return
	}
	if _, ttl, _ := m.view.Still(p); m.now.Observer < m.opening.movedAt.Add(ttl/movesApart) {
		return
	}
	m.opening.movedAt = m.now.Observer
	if m.opening.moves++; m.opening.moves >= maxMoves {
		m.fail(&DuplicateError{p.Peer.Instance, p.Session(), p.Lease.Nonce})
	}
}
