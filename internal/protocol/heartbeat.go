package protocol

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// trustedUntil is when terms of this session are no longer trusted: at its deadline, or when the
// watch has not shown one of our own short beats for too long. The second clause ends the trust of
// a process that can write but no longer sees what others do to the roles.
func (m *Machine) trustedUntil() record.Instant {
	if m.phase != open {
		return longAgo
	}
	if m.cfg.Class == record.Worker {
		return m.lease.deadline
	}
	return min(m.lease.deadline, m.lease.seenShort.Add(m.cfg.TTL-m.cfg.Margin))
}

// TrustedUntil is the instant, on the holder's scale, up to which terms begun so far may be trusted
// without asking the machine again. It only holds for the session that was open when it was read.
func (m *Machine) TrustedUntil() record.Instant { return m.trustedUntil() }

// LeaseUntil is the instant, on the holder's scale, up to which the session itself is trusted: by
// its acknowledged beats alone, idle ones included. That is enough for what holds no role.
func (m *Machine) LeaseUntil() record.Instant {
	if m.phase != open {
		return longAgo
	}
	return m.lease.deadline
}

func (m *Machine) trusted() bool { return m.now.Holder < m.trustedUntil() }

// canAct reports whether a claim may be made or come true: the session is valid and awake. A
// process that has been disconnected for too long to lead does not begin to.
func (m *Machine) canAct() bool {
	return m.trusted() && m.lease.awake() && !m.disconnected()
}

// behind reports whether a beat has waited to be seen, since it was sent, for a sixth of the delay
// that trust can stand (TTL less the margin less an interval). A sixth is soon enough for a watch
// that takes twice as long for a write as the store does (TestBehind).
func (m *Machine) behind() bool {
	l := &m.lease
	unseen := slices.IndexFunc(l.attempts, func(a attempt) bool { return a.on == 0 && a.sent > l.shown })
	return unseen >= 0 && m.now.Holder >= l.attempts[unseen].sent.Add((m.cfg.TTL-m.cfg.Margin-m.cfg.Heartbeat)/6)
}

func (m *Machine) disconnected() bool {
	return m.downSince != view.Never && m.now.Holder >= m.downSince.Add(m.cfg.Grace)
}

// Awake reports whether something may be begun under the session: it is trusted, and on short
// beats.
func (m *Machine) Awake() bool {
	return m.phase == open && m.trusted() && m.lease.awake()
}

// expire ends what time has ended, before anything else is looked at.
func (m *Machine) expire() {
	m.expireConditions()
	if m.phase != open {
		return
	}
	l := &m.lease
	if m.now.Holder >= l.deadline {
		m.lose("no heartbeat was acknowledged in time")
		return
	}
	if m.leading > 0 && !m.trusted() {
		m.endAll(SessionLost)
	}
	if m.leading > 0 && m.disconnected() {
		m.endAll(Disconnected)
	}
	if l.unseenSince != 0 && m.now.Holder >= m.unseenDue() {
		l.unseenSince = m.now.Holder
		m.rebuild("our own heartbeat was not seen on the watch")
	}
}

// unseenDue is when an unseen beat means that the watch is dead: two intervals after its
// acknowledgement, or after the last that the watch has shown of what was stored before it. One
// that is only behind is left alone: the next would have to show all of that again.
func (m *Machine) unseenDue() record.Instant {
	return m.lease.unseenSince.Add(2 * m.lease.interval)
}

// keepAlive sends the next beat when it is due, or at once when something waits for it: a short one
// after an idle one, a proof, or a lease record that somebody has wiped or overwritten with
// garbage.
func (m *Machine) keepAlive() {
	l := &m.lease
	short := m.wantShort()
	if l.inflight || !m.due(&l.retry) {
		return
	}
	urgent := short && l.idled == l.beat || m.self.Form != record.FormRecord || m.proofWaits() || m.suspectsNeedBeat()
	if urgent || m.now.Holder >= l.nextBeat {
		m.beat(short)
	}
}

func (m *Machine) pace(short bool) (interval, ttl time.Duration) {
	if short {
		return m.cfg.Heartbeat, m.cfg.TTL
	}
	return m.cfg.idlePace(m.view.Members())
}

// beat writes the lease over what the view says stands there.
func (m *Machine) beat(short bool) {
	l := &m.lease
	interval, ttl := m.pace(short)
	short = ttl == m.cfg.TTL
	l.beat++
	state, on := record.Live, uint64(0)
	if !short {
		state, l.idled = record.Idle, l.beat
		if m.standsIdle() && m.now.Holder < l.renewAt {
			on = l.rev
		}
	}
	l.attempts = slices.DeleteFunc(l.attempts, func(a attempt) bool { // one that landed so late would not be trusted
		return a.sent.Add(a.ttl-m.cfg.margin(a.ttl)) <= m.now.Holder
	})
	l.attempts = append(l.attempts, attempt{l.beat, m.now.Holder, ttl, short, m.view.Last(), on})
	l.inflight, l.nextBeat, l.interval = true, m.now.Holder.Add(interval), interval
	if m.phase == open { // a shorter one that lands unnoticed shortens the wait of the others, so it shortens ours at once
		l.deadline = min(l.deadline, m.now.Holder.Add(ttl-m.cfg.margin(ttl)))
	}
	m.opening.lastSent, m.opening.lastTTL = m.now.Observer, max(ttl, m.opening.lastTTL)
	if on != 0 {
		m.beatAside(on, ttl)
		return
	}
	l.written = l.beat
	retention := max(minLeaseRetention, 10*ttl)
	if !short {
		retention = m.cfg.retention(ttl)
	}
	rec := record.Lease{
		V: record.Version, Session: l.number, Nonce: l.nonce, TTLms: ttl.Milliseconds(), Beat: l.beat, State: state,
	}
	if short {
		rec.Workers = m.view.Workers()
	}
	m.put(pending{
		purpose: forBeat, beat: l.beat, expect: standing(m.self.Form, m.self.Revision), stood: m.self.Revision,
		entry: record.Entry{Kind: record.KindLease, Peer: m.self.Peer, Form: record.FormRecord, Lease: rec},
	}, Write{Key: record.LeaseKey(m.self.Peer), TTL: retention}, rec)
}

func (m *Machine) heartbeatDone(p pending, w Written, mine bool) {
	l := &m.lease
	m.report(p, w, m.self.Revision, Beat{w.Outcome, w.Revision, m.elapsed(p), p.entry.Lease.State == record.Idle})
	if !mine {
		return
	}
	l.inflight = false
	switch w.Outcome {
	case record.Won:
		if p.overNothing() {
			l.acknowledged = w.Revision
			m.unshown(&l.retry, l.rev >= w.Revision, 2*l.interval)
			return
		}
		l.retry = retry{}
		if m.adopt(p.beat, w.Revision); p.session != l.generation {
			return // it came too late, and was the end of its session
		}
		if l.unseenSince == 0 && w.Revision > l.unseenRev {
			l.unseenSince, l.unseenRev = m.now.Holder, w.Revision
		}
	case record.Refused:
		if l.retry = (retry{}); m.self.Revision == p.stood {
			m.unexplained(&l.retry)
		}
	case record.Unknown:
		m.unknown(&l.retry, "heartbeat", "")
		l.nextBeat = m.now.Holder // the retry alone paces it, and the connection's return ends that
		if m.phase == open {      // a lease at stake knows no slow lane
			l.retry.after = min(l.retry.after, m.now.Observer.Add(m.cfg.Heartbeat))
		}
	}
}

// adopt takes a beat of ours that is known to stand at rev.
func (m *Machine) adopt(beat, rev uint64) {
	l := &m.lease
	if rev <= l.rev {
		return
	}
	i := slices.IndexFunc(l.attempts, func(a attempt) bool { return a.beat == beat })
	if i < 0 {
		switch m.phase {
		case open:
			m.lose("a heartbeat arrived after its time")
		case opening: // a session that was over before it began: a former one of ours, to be replaced
			m.disown()
		}
		return
	}
	a := l.attempts[i]
	l.rev, l.acked, l.short, l.sent, l.heard = rev, beat, a.short, a.sent, 0
	l.renewAt = a.sent.Add(m.cfg.retention(a.ttl) / 3)
	l.deadline = a.sent.Add(a.ttl - m.cfg.margin(a.ttl))
	if m.phase == opening {
		m.opened(rev)
	}
}

// seenOwnLease is what the watch shows of our lease, before it is merged: also a revision that we
// know already proves that the watch is alive.
func (m *Machine) seenOwnLease(e *record.Entry) {
	l := &m.lease
	if e.Form != record.FormRecord || e.Lease.Nonce != l.nonce || !e.Lease.Alive() {
		return
	}
	m.adopt(e.Lease.Beat, e.Revision)
	if e.Lease.Nonce != l.nonce {
		return // it was lost just now
	}
	if i := slices.IndexFunc(l.attempts, func(a attempt) bool { return a.beat == e.Lease.Beat }); i >= 0 {
		l.shown = max(l.shown, l.attempts[i].sent)
		if l.attempts[i].short {
			l.seenShort = max(l.seenShort, l.attempts[i].sent)
		}
		m.reviewSuspects()
		l.attempts = slices.Delete(l.attempts, 0, i) // what was sent before a beat that landed can no longer land
	}
	if e.Revision >= l.unseenRev {
		l.unseenSince, l.unseenRev = 0, e.Revision
	}
}

// noteProgress notes that the watch is on its way to the beat that waits to be seen: it delivers in
// the order of revisions, and this one is new.
func (m *Machine) noteProgress(e *record.Entry) {
	if l := &m.lease; l.unseenSince != 0 && m.view.Delivered() < e.Revision && e.Revision < l.unseenRev {
		l.unseenSince = m.now.Holder
	}
}

// reviewOwnLease looks at our own lease after a delivery.
func (m *Machine) reviewOwnLease(e *record.Entry) {
	l, p := &m.lease, m.self
	if e.Peer != p.Peer || e.Revision != p.Revision {
		return
	}
	if l.retry.refused {
		l.retry = retry{}
	}
	switch {
	case e.Lease.State == record.Revoked && m.ownNonce(e.Lease.Nonce):
		m.revoked(e)
	case p.Form == record.FormRecord && p.Lease.Nonce == l.nonce && p.Lease.Alive():
	case p.Form == record.FormRecord && p.Lease.Nonce == l.nonce && p.Lease.State == record.Closed && m.closing.asked:
		m.closedSeen()
	case p.Form != record.FormRecord && p.Form != record.FormNewer:
		// Wiped or garbled: while the session is open the next beat goes over it, by CAS on that
		// revision. A process that wants to kill the session waits again from there.
	case m.phase == open:
		m.lose(usurped(p))
	case m.phase == opening:
		m.rivalMoved(e.Revision)
	}
}

func usurped(p *PeerView) string {
	switch {
	case p.Form == record.FormNewer:
		return "a later version has taken the lease"
	case p.Lease.State == record.Killed:
		return "killed by " + p.Lease.By
	case p.Lease.State == record.Closed && p.Lease.Nonce != "":
		return "somebody else has closed it"
	}
	return "another session has taken the lease"
}
