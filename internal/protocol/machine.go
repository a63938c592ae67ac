package protocol

import (
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

// View is what the machine knows of the bucket, to be read between steps only.
func (m *Machine) View() *View { return m.view }

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

func (m *Machine) emit(e Effect) { m.out = append(m.out, e) }

// part is our part in a role, nil when we have none. (What we keep to the end of the session is not
// one.)
func (m *Machine) part(name string) *role {
	rv := m.view.Role(name)
	if rv == nil || rv.Notes.mine == nil || m.keptRoles.has(rv.Notes.mine) {
		return nil
	}
	return rv.Notes.mine
}

// names reports whether a role's record says that our present session holds it.
func (m *Machine) names(rv *RoleView) bool {
	return m.phase == open && rv.Held() && rv.Role.Holder() == m.self.Peer && rv.Role.Session == m.lease.number
}

// wakeRole makes sure that a role is looked at again at t.
func (m *Machine) wakeRole(rv *RoleView, t record.Instant) {
	if t < rv.Alarm.At {
		m.rolesDue.Set(rv, t)
	}
}
