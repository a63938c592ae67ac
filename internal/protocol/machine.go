package protocol

import (
	"math"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

type sessionPhase uint8

const (
	syncing sessionPhase = iota // no complete snapshot yet: absence means nothing
	opening                     // no session; the lease key is ours as soon as the rule allows
	open                        // the session is open
	ended                       // closed or failed; nothing more will happen
)

// Machine is the whole of one session's rules: plain data and a transition function. It does no
// I/O, has no clock and no goroutine; its driver calls Step with each event in turn and
// carries out the effects.
type Machine struct {
	cfg  Config
	self *PeerView
	view *View

	phase       sessionPhase
	lease       lease
	past        []string // nonces of former sessions of this process, the newest last
	own         own
	active      set[*role]    // the roles with a term, drained or not
	undelivered []undelivered // by epoch
	opening     openState
	closing     closeState

	leading   int        // terms that are trusted
	running   int        // terms whose work has not drained
	claims    set[*role] // whose claim is open
	wanting   set[*role] // whose claim waits for a short beat
	window    window
	together  together
	vacates   int        // vacates in flight
	keptRoles set[*role] // left, but named by their record to the end of the session
	busy      bool

	slow       bool           // something may be in the slow lane
	downSince  record.Instant // holder's scale; never while connected
	rebuilding bool
	barred     bool           // our user may not write every role: those of dead sessions are left to others
	width      Widen          // of the watch that is wanted
	allFrom    record.Instant // not before a term has lasted for so long; holder's scale
	allUntil   record.Instant // and for so long after it was needed last
	spread     spreading
	evacuating evacuation
	conditions []*condition // in the order in which roles came to depend on them
	ready      []readyAsk
	readyUntil record.Instant
	proofs     []*proof

	writes    map[WriteID]pending
	lastWrite WriteID
	untold    []untold
	// below is where writes over nothing have won below what was known, until a whole watch has
	// shown whether they stand.
	below []uint64

	share    float64     // in (0, 1): our place among those who come late, once it was drawn
	suspects []*PeerView // looked at again when the watch has shown our next beat
	peersDue view.Schedule[*PeerView]
	rolesDue view.Schedule[*RoleView]
	news     News
	todoPeer []*PeerView
	todoRole []*RoleView

	now record.Now
	out []Effect
}

// New returns a machine that waits for its first snapshot.
func New(cfg Config) *Machine {
	cfg = cfg.withDefaults()
	m := &Machine{
		cfg: cfg, view: NewView(cfg.MaxTTL), downSince: view.Never,
		writes: map[WriteID]pending{}, window: window{size: cfg.Window, first: cfg.Window},
		together: together{limit: maxTogether},
	}
	m.self = m.view.Own(record.Peer{Class: cfg.Class, Instance: cfg.Instance})
	m.lease.nonce, m.lease.shown, m.lease.seenShort = cfg.NewID(), longAgo, longAgo
	m.own.open = view.Never
	return m
}

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

// View is what the machine knows of the bucket, to be read between steps only.
func (m *Machine) View() *View { return m.view }

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

func (m *Machine) touchPeer(p *PeerView) {
	if !p.Notes.queued {
		p.Notes.queued = true
		m.todoPeer = append(m.todoPeer, p)
	}
}

func (m *Machine) touchRole(r *RoleView) {
	if !r.Notes.queued {
		r.Notes.queued = true
		m.todoRole = append(m.todoRole, r)
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

func (m *Machine) emit(e Effect) { m.out = append(m.out, e) }

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
