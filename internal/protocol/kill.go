package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// reconcilePeer does what the rules ask for about somebody's lease: kill a session that has stood
// still for its time, and remove the member record that a dead one left behind.
func (m *Machine) reconcilePeer(p *PeerView) {
	t := &p.Notes
	if explained(p) {
		t.retry = retry{}
	}
	switch {
	case t.inflight:
	case m.mayKill(p):
		from, due := m.killDue(p)
		switch turn := m.killTurn(p, due); {
		case m.now.Observer < turn:
			m.peersDue.Set(p, turn)
		case !m.due(&t.retry):
			m.peersDue.Set(p, t.retry.after)
		case !m.watchedWholeWait(p, from, due):
			m.suspect(p)
		default:
			m.kill(p)
		}
	case m.mayReap(p):
		due := p.Seen.Add(m.rankDelay(p))
		if p.Lease.State == record.Closed {
			due = due.Add(m.cfg.Heartbeat) // its owner does it itself, as a rule
		}
		switch {
		case m.now.Observer < due:
			m.peersDue.Set(p, due)
		case !m.due(&t.retry):
			m.peersDue.Set(p, t.retry.after)
		default:
			m.reap(p)
		}
	}
}

// mayKill reports whether the session of p is one that this machine has to end once it has stood
// still. Candidates kill whatever died, so that dead members do not stay. While opening, only what
// stands at our own key matters.
func (m *Machine) mayKill(p *PeerView) bool {
	switch {
	case p == m.self:
		return m.phase == opening && !m.closing.asked && p.Form != record.FormNone && p.Form != record.FormNewer &&
			(p.Form != record.FormRecord || p.Lease.Alive() && !m.ownNonce(p.Lease.Nonce))
	case m.phase != open || m.cfg.Class != record.Candidate || p.Form == record.FormNewer:
		return false
	case p.Form == record.FormRecord && p.Booked > 0:
		return p.Lease.Alive() || m.view.Whole()
	case p.Form == record.FormRecord:
		return p.Lease.Alive() || m.view.Whole() && m.lostSession(p) != nil
	}
	return p.Member != nil || len(p.Holds) > 0 || p.Booked > 0
}

func (b Booked) apply(m *Machine) { m.view.Book(m.now.Observer, b.Peer, b.Session, &m.news) }

// apply ends an idle session at once: it begins nothing without a write of its lease, which is
// refused then. It needs no watch of its beats.
func (u Unanswered) apply(m *Machine) {
	p := m.view.Peer(u.Peer)
	if p == nil || p == m.self || m.phase != open || m.cfg.Class != record.Candidate || p.Form != record.FormRecord ||
		p.Lease.State != record.Idle || p.Session() != u.Session || p.Notes.inflight || !m.due(&p.Notes.retry) {
		return
	}
	m.kill(p)
}

// killDue is when p may be killed, and from when on that is waited for: its lease has stood at one
// revision for its own ttl since we first saw that revision.
//
// A lease that cannot be read, or is gone, is waited for by the longest ttl in its last version and
// in the roles of its session.
//
// An idle one stands still by itself. It is waited for by the ttl of its newest beat since that was
// seen, by a process whose present watch shows such beats. All others conclude nothing from it.
func (m *Machine) killDue(p *PeerView) (from, due record.Instant) {
	from, ttl, told := m.view.Still(p)
	switch {
	case p.Form != record.FormRecord:
		return from, from.Add(m.patience(p))
	case !p.Lease.Alive():
		return from, m.lostDue(p)
	case p == m.self && p.Lease.State == record.Idle:
		ttl = ttl * 2 / 3 // two of its intervals at least: a lease lasts three or more
	}
	if due = from.Add(ttl); !told {
		due = view.Never
	}
	if p.Lease.State == record.Idle && p != m.self {
		for _, r := range p.Holds { // it says that it holds nothing, so it does not work; somebody needs the role
			needed := r.Seen.Add(r.Role.TTL())
			if needed < due && !m.view.Dead(p.Peer, r.Role.Session) { // who needs what a former one held ends nobody
				from, due = r.Seen, needed
			}
		}
	}
	return from, due
}

// killTurn is when the candidates that rank before us have had the time to do it.
func (m *Machine) killTurn(p *PeerView, due record.Instant) record.Instant {
	if m.now.Observer < due || p == m.self {
		return due
	}
	return due.Add(m.rankDelay(p))
}

// watchedWholeWait reports whether we watched while p stood still: the watch has shown us a beat of
// our own that was sent in the second half of that time, and what was written before that, unless
// it was overwritten since. The watch may be late, or tell nothing, for as long as a lease: then
// all leases stand still, to all who have such a watch. Each of them would try to end every other
// one, again and again, and keep the store too busy to come in time. A process whose write is
// refused has ended nobody, so this rule is for the sake of load, not of safety. (An idle session
// that a role still names may be ended without.)
func (m *Machine) watchedWholeWait(p *PeerView, from, due record.Instant) bool {
	blind := m.now.Holder.Sub(m.lease.shown)
	return p == m.self || m.view.Whole() && m.now.Observer.Add(-blind) >= from.Add(due.Sub(from)/2)
}

// suspect looks at p again when the watch has shown our next beat.
func (m *Machine) suspect(p *PeerView) {
	if !p.Notes.suspected {
		p.Notes.suspected = true
		m.suspects = append(m.suspects, p)
	}
}

// suspectsNeedBeat reports whether a beat has to be sent for the sake of those who are suspected:
// there is none that the watch is still to show.
func (m *Machine) suspectsNeedBeat() bool {
	return len(m.suspects) > 0 && m.view.Whole() && m.lease.unseenSince == 0
}

// reviewSuspects looks again at all who are suspected, unless there is a snapshot to come first: it
// does not tell what came before what.
func (m *Machine) reviewSuspects() {
	if !m.view.Whole() {
		return
	}
	for _, p := range m.suspects {
		p.Notes.suspected = false
		m.touchPeer(p)
	}
	clear(m.suspects)
	m.suspects = m.suspects[:0]
}

// lostSession is a role whose record names a session of p that is later than the one that has
// ended, nil for none. The store has lost what was written of that one: nobody ever would end it.
func (m *Machine) lostSession(p *PeerView) *RoleView {
	for _, r := range p.Holds {
		if !m.view.Dead(p.Peer, r.Role.Session) {
			return r
		}
	}
	return nil
}

// lostDue is when such a session is ended again, at a revision above it: so the lease tells that it
// is dead. A session that is in the state counts like one that a role names.
func (m *Machine) lostDue(p *PeerView) record.Instant {
	session, due := p.Booked, p.Seen.Add(m.view.UnreadTTL(p.LastTTL))
	if r := m.lostSession(p); r != nil {
		session, due = r.Role.Session, max(p.Seen, r.Seen).Add(r.Role.TTL())
	}
	if m.now.Observer >= due && m.view.Last() < session {
		return m.now.Observer.Add(m.cfg.Heartbeat)
	}
	return due
}

// patience is how long a lease is waited for that cannot be read, or is gone. The roles of its
// session tell how long it may be trusted. Those of an earlier one tell nothing: a later one has
// begun, so it has ended.
func (m *Machine) patience(p *PeerView) time.Duration {
	longest := p.LastTTL
	latest := uint64(0)
	for _, r := range p.Holds {
		latest = max(latest, r.Role.Session)
	}
	for _, r := range p.Holds {
		if r.Role.Session == latest {
			longest = max(longest, r.Role.TTL())
		}
	}
	return m.view.UnreadTTL(longest)
}

// crowd is how many at most go before us one after the other. each is what every candidate adds to
// the time in which all others come, at random.
const (
	crowd = 8
	each  = time.Millisecond
)

// queue is how long a process that ranks so far behind, of so many candidates, lets the others go
// first. Those before us may all be dead, which nobody knows yet, and each costs a moment. So all
// that rank behind the first few come at random, few enough at a time.
func (m *Machine) queue(rank, of int) time.Duration {
	if rank < crowd {
		return time.Duration(rank) * m.cfg.Delta
	}
	return crowd*m.cfg.Delta + time.Duration(m.lot()*float64(of)*float64(each))
}

// lot is our place among those that come at random, from 0 to 1.
func (m *Machine) lot() float64 {
	if m.share == 0 {
		m.share = m.cfg.Rand()
	}
	return m.share
}

// rankDelay keeps a herd from doing the same thing at once. It goes by our rank by session number
// among the live candidates.
func (m *Machine) rankDelay(about *PeerView) time.Duration {
	rank, all := 0, 0
	for _, q := range m.view.Peers() {
		if q != about && q != m.self && q.Peer.Class == record.Candidate && m.view.Active(m.now.Observer, q) {
			if all++; q.Session() < m.lease.number {
				rank++
			}
		}
	}
	return m.queue(rank, all)
}

func (m *Machine) kill(p *PeerView) {
	rec := record.Lease{V: record.Version, State: record.Killed, By: m.cfg.Instance}
	if p.Form == record.FormRecord {
		rec.Session, rec.Nonce, rec.Beat = p.Session(), p.Lease.Nonce, p.Lease.Beat
		rec.AtRest = p.Lease.State == record.Idle // to begin something would be a write of its lease
	}
	p.Notes.inflight = true
	m.put(pending{
		purpose: forKill, peer: p, expect: standing(p.Form, p.Revision), stood: p.Revision,
		entry: record.Entry{Kind: record.KindLease, Peer: p.Peer, Form: record.FormRecord, Lease: rec},
	}, Write{Key: record.LeaseKey(p.Peer), Delete: true, TTL: m.cfg.tombstone()}, rec)
}

// mayReap reports whether a member record stands for a session that is dead.
func (m *Machine) mayReap(p *PeerView) bool {
	return p != m.self && m.phase == open && m.cfg.Class == record.Candidate &&
		p.Form == record.FormRecord && p.Member != nil && m.view.Dead(p.Peer, p.Member.Session)
}

func (m *Machine) reap(p *PeerView) {
	p.Notes.inflight = true
	m.put(pending{
		purpose: forReap, peer: p, expect: p.MemberRevision, stood: p.MemberRevision,
		entry: record.Entry{Kind: record.KindMember, Peer: p.Peer, Form: record.FormMarker},
	}, Write{Key: record.MemberKey(p.Peer), Delete: true, TTL: m.cfg.removal()}, nil)
}

func (m *Machine) killWritten(p pending, w Written) {
	peer, t := p.peer, &p.peer.Notes
	t.inflight = false
	known, doing := peer.Revision, "kill the session of "+peer.Peer.Instance
	if p.purpose == forReap {
		known, doing = peer.MemberRevision, "remove the member record of "+peer.Peer.Instance
	}
	switch w.Outcome {
	case record.Won:
		t.stood, t.reaped = p.stood, p.purpose == forReap
		m.unshown(&t.retry, !p.overNothing() || known != p.stood, m.cfg.TTL)
		if p.purpose == forKill {
			m.report(p, w, peer.Revision, PeerKilled{peer.Peer, p.entry.Lease.Session})
		}
	case record.Refused: // it lives: the watch will show the beat that came first, and the wait starts again there
		if t.retry = (retry{}); known == p.stood {
			t.stood, t.reaped = p.stood, p.purpose == forReap
			m.unexplained(&t.retry)
		}
	case record.Unknown:
		m.unknown(&t.retry, doing, "")
	}
	m.touchPeer(peer)
}

func (m *Machine) ownNonce(nonce string) bool {
	if nonce == m.lease.nonce {
		return true
	}
	for _, past := range m.past {
		if nonce == past {
			return true
		}
	}
	return false
}
