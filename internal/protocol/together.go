package protocol

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// together is the claims that go in one write, of which the store takes all or none.
//
// A store that syncs every write stores a thousand claims in a tenth of the time when they come
// together. A store that does not is faster with one by one. So the claims that wait go together
// when that is faster by what was measured: the time of a write among those in flight, and the time
// of the last claims that went together.
//
//   - Our own beat goes first, since a later one waits in the store behind all of them.
//   - While they are on their way, no other write of a role is: the condition of one that meets
//     them in the store refuses all of them.
//   - They take the store no longer than a part of OpTimeout, and the watch no longer than twice
//     that, by what the last ones took, and are at most twice as many. The first ones are as many
//     as would be stored one by one in that time. So a beat behind them is known in time.
//   - A refusal is one of all of them, and does not say which claim was to blame. So half of them
//     go together at once, with the same tokens, and in the end each goes alone.
//   - Without an answer nothing is known of any of them. Each goes again, alone: together they
//     could meet themselves.
//   - A win does not say at which revision each claim is stored. The watch does, and with that the
//     terms begin.
//   - The next write of a role waits until the watch has shown them, for as long as a watch is not
//     late yet. A store takes claims that go together much faster than any watch shows them.
type together struct {
	off    bool // the store takes no such writes
	limit  int  // the most that go together next
	holds  bool // no other write of a role is sent, so that they can go
	places int  // left among those that are being gathered
	claims []pending
	writes []Write
	flight flight

	stored   uint64         // the revision of the last claim of those that were won last
	answered record.Instant // holder's scale
	unseen   bool           // the watch has not shown it yet
	cost     cost
}

// flight is claims on their way together; there is none without an id.
type flight struct {
	id     WriteID
	at     record.Instant // holder's scale
	claims []pending
}

// cost is how long so many claims took together, the last time, how long the watch took to show
// them, and when that was.
type cost struct {
	claims      int
	took, shown time.Duration
	at          record.Instant // observer's scale
}

// enterClaim is enter for a claim. While claims are gathered to go together, there is a place with
// them.
func (m *Machine) enterClaim(r *role) bool {
	return m.joins(r) || m.enterOr(r.RoleView, r.mayJoin())
}

// joins reports whether the claim of a role goes together with those that are being gathered.
func (m *Machine) joins(r *role) bool { return m.together.places > 0 && r.mayJoin() }

func (r *role) mayJoin() bool { return r.claim == nil || !r.claim.alone }

// gather lets the claims that wait go together, if that pays.
func (m *Machine) gather() {
	w, t := &m.window, &m.together
	t.holds = false
	m.seeTogether()
	if m.claims.len() == 0 { // a refusal is history
		t.limit = maxTogether
	}
	n := m.paysTogether()
	if t.holds = n > 0; n == 0 || w.pace*timesOf(w.inflight) > m.cfg.OpTimeout/8 {
		return // what is in flight goes first
	}
	w.queue = slices.DeleteFunc(w.queue, func(rv *RoleView) bool {
		if t.places == n || !rv.Notes.claiming {
			return false
		}
		t.places++
		w.called(rv)
		m.touchRole(rv)
		return true
	})
}

// paysTogether is how many of the claims that wait go together now, 0 for none.
func (m *Machine) paysTogether() int {
	w, t := &m.window, &m.together
	if t.off || t.unseen || w.pace == 0 || m.shut() || !m.canAct() {
		return 0
	}
	n, each := min(w.claims, t.limit), w.pace
	if c := t.cost; t.known(m.now.Observer) {
		n = min(n, 2*c.claims)
		each = max(c.took/timesOf(c.claims), c.shown/timesOf(2*c.claims), 1)
	}
	n = min(n, int(m.cfg.OpTimeout*3/8/each))
	if n < m.cfg.Together || w.pace*timesOf(n) <= m.costOf(n) {
		return 0
	}
	return n
}

func (t *together) known(now record.Instant) bool {
	return t.cost.claims > 0 && now < t.cost.at.Add(costMemory)
}

// costOf is how long n claims are expected to take together: no less than fewer of them did, and in
// proportion when they are more.
func (m *Machine) costOf(n int) time.Duration {
	c := m.together.cost
	if !m.together.known(m.now.Observer) {
		return m.cfg.TogetherCost + eachTogether*timesOf(n)
	}
	return max(c.took, c.took*timesOf(n)/timesOf(c.claims))
}

// seeTogether notes when the watch has shown the claims that were won last.
func (m *Machine) seeTogether() {
	if t := &m.together; t.unseen && m.view.Delivered() >= t.stored {
		t.unseen, t.cost.shown = false, m.now.Holder.Sub(t.answered)
	}
}

// unseenTogether reports whether the watch has yet to show the claims that were won last, and is
// not late.
func (m *Machine) unseenTogether() bool {
	t := &m.together
	return t.unseen && m.now.Holder < t.answered.Add((m.cfg.TTL-m.cfg.Margin-m.cfg.Heartbeat)/6)
}

// join adds a claim to those that are being gathered.
func (m *Machine) join(p pending, w Write, rec any) {
	t := &m.together
	m.prepare(&p, &w, rec)
	t.places--
	t.claims, t.writes = append(t.claims, p), append(t.writes, w)
}

// sendTogether sends what was gathered in this step.
func (m *Machine) sendTogether() {
	t := &m.together
	claims, writes := t.claims, t.writes
	t.places, t.claims, t.writes = 0, nil, nil
	switch {
	case m.phase != open:
		for _, p := range claims {
			p.role.Notes.inflight = false
		}
	case len(claims) == 0:
	case len(claims) == 1:
		m.window.inflight++
		m.writes[writes[0].ID] = claims[0]
		m.emit(writes[0])
	default:
		if l := &m.lease; !l.inflight && l.retry == (retry{}) {
			m.beat(true)
		}
		m.lastWrite++
		t.flight = flight{m.lastWrite, m.now.Holder, claims}
		m.emit(WriteTogether{m.lastWrite, writes})
	}
}

func (w WrittenTogether) apply(m *Machine) {
	t := &m.together
	f := t.flight
	if w.ID == 0 || w.ID != f.id {
		return
	}
	t.flight = flight{}
	took := m.now.Holder.Sub(f.at)
	m.widenTogether(w, len(f.claims), took)
	switch {
	case w.Fault != nil:
		m.fail(w.Fault)
		return
	case w.Outcome == record.Won && w.Revision <= f.claims[0].known:
		if slices.ContainsFunc(f.claims, func(p pending) bool { return !p.overNothing() }) {
			m.fail(ErrStoreRegressed)
			return
		}
		last := w.Revision
		m.below = append(m.below, last)
		m.rebuild("claims over nothing won below what was known")
	}
	for _, p := range f.claims {
		m.claimedTogether(p, w.Outcome, took)
	}
}

// widenTogether learns from claims that went together how many go next, and how long they take.
func (m *Machine) widenTogether(w WrittenTogether, n int, took time.Duration) {
	t := &m.together
	t.off = t.off || w.Off
	switch w.Outcome {
	case record.Refused:
		t.limit = n / 2
		return
	case record.Unknown:
		m.window.narrow()
	case record.Won:
		t.limit = min(2*max(t.limit, 1), maxTogether)
		t.stored, t.answered = w.Revision, m.now.Holder
		m.window.stored = max(m.window.stored, w.Revision)
	}
	t.unseen = w.Outcome == record.Won
	t.cost = cost{claims: n, took: took, at: m.now.Observer}
}

// claimedTogether takes the outcome of all for one of them.
func (m *Machine) claimedTogether(p pending, o record.Outcome, took time.Duration) {
	rv := p.role
	rv.Notes.inflight = false
	m.touchRole(rv)
	r := rv.Notes.mine
	if o == record.Refused || p.session != m.lease.generation {
		return
	}
	m.emit(Claimed{rv.Name, o, took})
	if r == nil || r.claim == nil || r.claim.token != p.entry.Role.Token {
		return // the watch was faster
	}
	if o == record.Unknown {
		r.claim.alone = true
		m.unknown(&r.Notes.retry, "claim", r.Name)
	} else {
		m.unshown(&rv.Notes.retry, rv.Revision != p.stood, m.cfg.TTL)
	}
}
