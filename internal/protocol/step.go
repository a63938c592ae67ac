package protocol

import (
	"math"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// Step applies one event at one moment and appends what is to be done to out. The effects are to be
// carried out in order.
//
// Time is looked at first, so that nothing is decided on a trust that has ended; the event comes
// second; then every lease and role that either has touched is brought in line with the rules.
func (m *Machine) Step(now record.Now, ev Event, out []Effect) []Effect {
	m.now, m.out = now, out
	if m.phase != ended {
		m.expire()
		m.view.Sweep(now.Observer)
		ev.apply(m)
		m.settle()
	}
	out, m.out = m.out, nil
	return out
}

// settle brings everything that is due or was touched in line with the rules, until nothing is left
// to do.
func (m *Machine) settle() {
	for {
		m.collect()
		m.session()
		if m.phase == ended || len(m.todoPeer)+len(m.todoRole)+len(m.news.Notices) == 0 {
			return
		}
		for _, n := range m.news.Notices {
			m.noteSpread(n)
			m.emit(n)
		}
		m.news.Notices = m.news.Notices[:0]
		for len(m.todoPeer) > 0 {
			p := m.todoPeer[len(m.todoPeer)-1]
			m.todoPeer = m.todoPeer[:len(m.todoPeer)-1]
			p.Notes.queued = false
			m.reconcilePeer(p)
		}
		for i := 0; i < len(m.todoRole); i++ { // in order: the claims of many roles go out as they came in
			m.todoRole[i].Notes.queued = false
			m.reconcileRole(m.todoRole[i])
		}
		m.todoRole = m.todoRole[:0]
		m.sendTogether()
	}
}

// collect queues what is due and what the news have touched.
func (m *Machine) collect() {
	for _, p := range m.news.Peers {
		m.touchPeer(p)
	}
	if len(m.news.Roles) > 0 {
		m.touchGroups()
	}
	for _, r := range m.news.Roles {
		m.touchRole(r)
	}
	for _, n := range m.news.Notices { // before anything is decided; those that come up until they are told follow
		m.noteSpread(n)
	}
	for _, name := range m.news.Steered {
		m.steered(name)
	}
	m.news.Peers, m.news.Roles, m.news.Steered = m.news.Peers[:0], m.news.Roles[:0], m.news.Steered[:0]
	for p, ok := m.peersDue.Pop(m.now.Observer); ok; p, ok = m.peersDue.Pop(m.now.Observer) {
		m.touchPeer(p)
	}
	for r, ok := m.rolesDue.Pop(m.now.Observer); ok; r, ok = m.rolesDue.Pop(m.now.Observer) {
		m.touchRole(r)
	}
}

// session keeps what there is once per process: the lease, the member record, trust, the end. It
// costs O(1).
func (m *Machine) session() {
	if m.phase != ended && m.view.AskAgain(m.now.Observer) {
		m.rebuild("revisions went back, or a replica lags")
	}
	switch m.phase {
	case opening:
		m.tryOpen()
	case open:
		m.keepAlive()
		m.writeMember()
		m.prove()
		m.answerReady()
		m.wakeWanting()
		m.balance()
		m.leaveNext()
		m.gather()
		m.refill()
	}
	if m.closing.asked && m.phase != ended {
		m.tryClose()
	}
	m.chooseWatch()
}

// Next is how long after now the machine wants its next Tick, at the latest.
func (m *Machine) Next(now record.Now) time.Duration {
	if m.phase == ended {
		return math.MaxInt64
	}
	holder, observer := m.nextHolder(), m.nextObserver()
	wait := time.Duration(math.MaxInt64)
	if holder != view.Never {
		wait = min(wait, holder.Sub(now.Holder))
	}
	if observer != view.Never {
		wait = min(wait, observer.Sub(now.Observer))
	}
	return max(wait, 0)
}

// nextHolder is when the holder's scale wants the next Tick. Only what lies ahead counts: what was
// due has been done.
func (m *Machine) nextHolder() record.Instant {
	if m.phase != open {
		return view.Never
	}
	l, next := &m.lease, view.Never
	ahead := func(t record.Instant) {
		if t > m.now.Holder {
			next = min(next, t)
		}
	}
	ahead(l.deadline)
	if !l.inflight {
		ahead(l.nextBeat)
	}
	if m.leading > 0 {
		ahead(m.trustedUntil())
		if m.downSince != view.Never {
			ahead(m.downSince.Add(m.cfg.Grace))
		}
	}
	m.conditionsEnd(ahead)
	if l.unseenSince != 0 {
		ahead(m.unseenDue())
	}
	if m.width.All {
		ahead(m.allUntil)
	} else if m.leading > 0 && m.view.Idlers() > 0 {
		ahead(m.allFrom)
	}
	for _, r := range m.ready {
		ahead(r.until)
	}
	return next
}

// nextObserver is the same on the observer's scale, for what no schedule keeps.
func (m *Machine) nextObserver() record.Instant {
	next := min(m.peersDue.Next(), m.rolesDue.Next())
	ahead := func(t record.Instant) {
		if t > m.now.Observer {
			next = min(next, t)
		}
	}
	ahead(m.lease.retry.after)
	ahead(m.view.AskAt())
	if m.own.wanted > m.own.acked {
		ahead(max(m.own.retry.after, m.own.restoreAt))
	}
	for _, p := range m.proofs {
		ahead(p.after)
	}
	if m.phase == open {
		m.balanceAhead(ahead)
	}
	if m.phase == opening {
		ahead(m.formerDue())
	}
	if m.closing.asked {
		ahead(m.closing.due)
		ahead(m.closing.retry.after)
	}
	return next
}

func (Tick) apply(*Machine) {}

func (w WatchReset) apply(m *Machine) {
	m.view.BeginWatch(view.Watch(w), m.self.Peer)
	m.opening.begun = max(w.Known, w.Last)
	if m.view.Regressed() {
		m.fail(ErrStoreRegressed)
	}
}

func (SnapshotDone) apply(m *Machine) {
	again := m.view.EndSnapshot(m.now.Observer, m.mayHaveReplaced, &m.news)
	if m.rebuilding = false; again {
		m.rebuild("a record that was known does not stand")
	}
	m.below = m.below[:0]
	m.expectAll()
	m.takeBackOvertaken()
	m.lease.unseenSince = 0
	m.reviewSuspects()
	if m.phase == syncing {
		m.phase = opening
	}
	m.missOwnMember()
}

func (b Broken) apply(m *Machine) { m.fail(b.Fault) }

func (c Connection) apply(m *Machine) {
	switch {
	case c.Up:
		m.downSince = view.Never
		m.hurry(1)
	case m.downSince == view.Never:
		m.downSince = m.now.Holder
	}
}

func (w Written) apply(m *Machine) {
	p, ok := m.writes[w.ID]
	if !ok {
		return
	}
	delete(m.writes, w.ID)
	if p.role != nil {
		m.leave(w.Outcome, w.Revision, m.elapsed(p))
		if w.Outcome != record.Unknown {
			m.window.paced(p.among, m.elapsed(p))
		}
	}
	w.Denied = w.Denied && p.entry.Role.Reason == Abandoned
	// everything else continues without a new member record, and with a role of others that stays
	if w.Fault != nil && !w.Denied && !(w.TooLarge && p.purpose == forMember) {
		m.fail(w.Fault)
		return
	}
	switch w.Outcome {
	case record.Won:
		back := w.Revision <= p.known // revisions are of the whole bucket
		if p.overNothing() {
			if back { // so they went back, or this was another bucket: a watch of ours tells
				m.below = append(m.below, w.Revision)
				m.rebuild("a write over nothing won below what was known")
			}
			break
		}
		if back {
			m.fail(ErrStoreRegressed)
			return
		}
		p.entry.Revision = w.Revision
		m.view.Merge(m.now.Observer, &p.entry, &m.news)
		m.takeBackIfOvertaken(p.role, w.Revision)
	case record.Refused:
		m.view.Deny(&p.entry, p.expect)
	}
	mine := p.session == m.lease.generation
	switch p.purpose {
	case forBeat:
		m.heartbeatDone(p, w, mine)
	case forIdleBeat:
		m.idleBeatDone(p, w, mine)
	case forClose:
		m.closeWritten(p, w, mine)
	case forMember:
		m.memberWritten(p, w, mine)
	case forKill, forReap:
		m.killWritten(p, w)
	case forClaim:
		m.claimWritten(p, w, mine)
	case forVacate:
		m.vacateWritten(p, w, mine)
	case forRotate:
		m.rotationWritten(p, w, mine)
	case forProof:
		m.probeWritten(p.proof, w)
	case forFarewell:
		m.farewellWritten(mine)
	}
}
