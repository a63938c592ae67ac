package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/systemd"
)

// Manager takes part in any number of roles with one connection, one session and one heartbeat. A
// Manager runs once: New, Run, end. All methods are safe for concurrent use, before, during and
// after Run.
type Manager struct {
	cfg     Config
	session *election.Session
	reports *reports
	fatal   chan error        // cap 1: the first one counts
	servers *servers          // of Run alone, nil if Config.Servers is
	systemd *systemd.Notifier // nil if nobody is to be told

	mu    sync.Mutex // never held across a call that waits
	phase phase
	base  context.Context // of the elections: the values of Run's context, but not its end
	conn  *nats.Conn
	roles []*member // in the order in which they were added
	named map[string]*member
}

// member is this process's part in one role.
type member struct {
	role     Role
	election *election.Election
	leaving  bool // Remove was called: it is forgotten when its election has stopped
}

// phase is the stage of the manager in its one life cycle.
type phase uint8

const (
	created phase = iota // before Run
	running
	draining // Run gives everything back
	ended
)

// New makes a manager that takes part in the roles once Run is called. It does no I/O. The error
// joins every fault of cfg and of the roles; each fault names its fix.
func New(cfg Config, roles ...Role) (*Manager, error) {
	if err := cfg.Validate(roles...); err != nil {
		return nil, err
	}
	reports := &reports{log: cfg.log(), told: make(chan struct{}, 1)}
	sc := cfg.session()
	sc.Sinks = reports.before(cfg.Sinks)
	var notifier *systemd.Notifier
	if cfg.SystemdNotify {
		notifier = systemd.New(func(err error) { reports.fault("tell systemd", err) })
	}
	if notifier != nil {
		sc.Sinks = append(slices.Clone(sc.Sinks), notifier)
	}
	session, err := election.NewSession(sc)
	if err != nil {
		return nil, err
	}
	reports.session = session
	m := &Manager{
		cfg: cfg, session: session, reports: reports, conn: cfg.Conn, fatal: make(chan error, 1),
		systemd: notifier, named: map[string]*member{},
	}
	if err := m.Add(roles...); err != nil {
		return nil, err
	}
	return m, nil
}

// Session is the session that holds the manager's roles. Use it for package assign, to list the
// other members, and for the other methods of a session. The manager opens and closes it.
func (m *Manager) Session() *election.Session { return m.session }

// Events returns the events from now on. The channel is closed when ctx or Run ends. A slow reader
// gets every promotion and demotion, and an event.Lagged in place of the rest. A scheduler in this
// process begins to tell of single tasks with its next turn, a moment later.
func (m *Manager) Events(ctx context.Context) <-chan event.Event { return m.session.Events(ctx) }

// Add takes part in more roles, at once if the manager is running. On an error, none of the roles
// was added. Errors:
//   - every fault of the roles;
//   - ErrUnknownRole for a [While] of a role that is not there;
//   - ErrEnded, also when Run ends meanwhile;
//   - election.ErrWorkerOnly;
//   - [ErrShardCount] for a group of shards that has another number, or the error that kept the
//     manager from asking for that number for 5 s;
//   - *election.TooLargeError when the record of this process has no room for more roles;
//   - election.ErrDuplicateRole when the role was added directly to the session.
func (m *Manager) Add(roles ...Role) error {
	conditions, missing := conditionsOf(roles) // without our lock: it takes those of other managers
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase >= draining {
		return ErrEnded
	}
	m.forget()
	if err := errors.Join(validateRoles(roles, m.named, m.cfg.heartbeat()), missing); err != nil {
		return err
	}
	added := make([]*member, 0, len(roles))
	for i, r := range roles {
		e, err := m.campaign(r, conditions[i])
		if err != nil { // the session has ended, or takes part in the role without the manager
			for _, mb := range added {
				_ = mb.election.Stop() // returns ErrNotStarted
			}
			return err
		}
		added = append(added, &member{role: r, election: e})
	}
	m.roles = append(m.roles, added...)
	for _, mb := range added {
		m.named[mb.role.Name] = mb
	}
	if m.phase == running {
		return m.startAdded(added)
	}
	return nil
}

// startAdded starts roles that were added while the manager runs. Before shards are led, the bucket
// must know how many there are. m.mu is held, but for that question, during which Run may end.
func (m *Manager) startAdded(added []*member) error {
	if slices.ContainsFunc(added, func(mb *member) bool { return mb.role.sharded }) {
		m.mu.Unlock()
		err := m.checkShards(added)
		m.mu.Lock()
		if m.phase >= draining {
			err = ErrEnded
		}
		if err != nil {
			m.drop(added)
			return err
		}
	}
	m.start(added)
	return nil
}

// checkShards asks for the groups of these roles, and for no others. A group is asked for once: the
// session knows it then.
func (m *Manager) checkShards(members []*member) error {
	for _, mb := range members {
		if !mb.role.sharded {
			continue
		}
		if err := bridge.CheckShards(m.session, mb.role.Group, mb.role.shards); err != nil {
			return fmt.Errorf("roles: add shards: %w", err)
		}
	}
	return nil
}

// drop forgets roles that were added and never started. m.mu is held.
func (m *Manager) drop(members []*member) {
	for _, mb := range members {
		_ = mb.election.Stop() // returns ErrNotStarted
		if m.named[mb.role.Name] == mb {
			delete(m.named, mb.role.Name)
		}
	}
	m.roles = slices.DeleteFunc(m.roles, func(mb *member) bool { return slices.Contains(members, mb) })
}

// campaign makes the election of a role, which may depend on another one.
func (m *Manager) campaign(r Role, while *election.Election) (*election.Election, error) {
	cfg := r.campaign()
	cfg.While = while
	if r.Lead != nil {
		cfg.Lead = m.watched(r)
	}
	e, err := m.session.Campaign(cfg)
	if err != nil {
		return nil, fmt.Errorf("roles: campaign for %s: %w", r.Name, err)
	}
	if r.OnPromote != nil {
		e.OnPromote(r.OnPromote)
	}
	if r.OnDemote != nil {
		e.OnDemote(r.OnDemote)
	}
	return e, nil
}

// start begins to take part. m.mu is held: Start only posts to the session and does not wait. It
// refuses only an election that was started or stopped already: then Remove, or the user, has
// decided.
func (m *Manager) start(members []*member) {
	for _, mb := range members {
		_ = mb.election.Start(m.base)
	}
}

// Remove stops taking part in a role. If this process leads the role, Remove waits until the work
// has drained and the role was given away. The role can be added again afterwards. Errors:
//   - ErrUnknownRole;
//   - election.ErrInsideWork when the work of the role calls Remove itself;
//   - context.DeadlineExceeded when the work had not returned after DrainTimeout and a few
//     operations;
//   - the error of ctx.
//
// After all but the first of these the removal continues, and another Remove waits for it again.
func (m *Manager) Remove(ctx context.Context, name string) error {
	m.mu.Lock()
	mb := m.named[name]
	m.mu.Unlock()
	if mb == nil {
		return fmt.Errorf("%w: %s", ErrUnknownRole, name)
	}
	err := mb.election.StopWithContext(ctx, election.StopOptions{DeleteKey: true, WaitForDemote: true})
	if errors.Is(err, election.ErrNotStarted) { // before Run there is nothing to leave
		err = nil
	}
	m.mu.Lock()
	mb.leaving = true
	m.forget()
	m.mu.Unlock()
	if err != nil {
		return fmt.Errorf("roles: remove %s: %w", name, err)
	}
	return nil
}

// forget drops the roles that have been left. m.mu is held.
func (m *Manager) forget() {
	m.roles = slices.DeleteFunc(m.roles, func(mb *member) bool {
		if !mb.leaving {
			return false
		}
		select {
		case <-mb.election.Done():
			delete(m.named, mb.role.Name)
			return true
		default:
			return false
		}
	})
}

// members are the roles at this moment, in the order in which they were added.
func (m *Manager) members() []*member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.roles)
}

// Election is this process's part in a role. It tells whether this process leads, has the token,
// and has the other methods for one role.
func (m *Manager) Election(role string) (*election.Election, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if mb := m.named[role]; mb != nil {
		return mb.election, true
	}
	return nil, false
}

// patience is the longest time for the drain and the operations after it.
func (m *Manager) patience() time.Duration {
	return bridge.ClosesWithin(m.session) + 2*m.session.Config().OpTimeout
}
