package assign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/scheduler"
	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/assign/internal/worker"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Assigner is one process's part in one namespace. It runs tasks, submits tasks, and hands them out
// while its process leads the role. It lives and ends with its session.
type Assigner struct {
	session *election.Session
	cfg     Config
	// handlers are the worker's, with the state that outlives a lease.
	handlers *worker.Registry
	shortcut shortcut.Shortcut // between its scheduler and its worker

	mu      sync.Mutex
	client  *client.Client // nil until the session was open once
	host    *hosting
	arrived chan struct{} // closed and replaced when client or host changes

	absence absence // of a scheduler
}

// lease is the part of an election.Host that this package uses, see bridge.LeaseOf.
type lease interface {
	scheduler.Host
	worker.Host
}

// hosting is the present lease, for Lead.
type hosting struct {
	ctx context.Context
	h   lease
}

// New attaches an assigner to a session. The assigner begins with the session's lease and ends with
// the session. It works as soon as it has handlers, and hands tasks out when the leader of cfg.Role
// calls [Assigner.Lead]. A session has one assigner of a namespace. Errors: every fault of cfg, a
// *ConfigError each, joined; a *ConfigError for a nil session; ErrDuplicateNamespace,
// election.ErrClosed.
func New(s *election.Session, cfg Config) (*Assigner, error) {
	if s == nil {
		return nil, &ConfigError{"Session", "nil: use what election.NewSession returns"}
	}
	cfg = cfg.withDefaults(s.Config())
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.Labels, cfg.Middleware = maps.Clone(cfg.Labels), slices.Clone(cfg.Middleware)
	a := &Assigner{
		session: s, cfg: cfg, handlers: worker.NewRegistry(cfg.client().sealer().Keys()), arrived: make(chan struct{}),
		absence: absence{namespace: cfg.Namespace, role: cfg.Role},
	}
	if err := bridge.AttachOnce(s, "assign "+cfg.Namespace, a.attend); err != nil {
		if errors.Is(err, election.ErrAttached) {
			return nil, fmt.Errorf("%w: %s", ErrDuplicateNamespace, cfg.Namespace)
		}
		return nil, fmt.Errorf("assign: %w", err)
	}
	if err := s.Attach("work "+cfg.Namespace, a.work); err != nil {
		return nil, fmt.Errorf("assign: %w", err)
	}
	return a, nil
}

// attend makes the lease known to Lead and to the calls that submit.
func (a *Assigner) attend(ctx context.Context, h election.Host) error {
	l := bridge.LeaseOf(h).(lease)
	a.mu.Lock()
	if a.client == nil {
		cfg := a.cfg.client()
		a.client = client.New(h.Conn(), cfg.stream(), cfg.sealer(), submitAround(cfg.SubmitMiddleware))
		go a.end(a.client)
	}
	a.host = &hosting{ctx, l}
	client := a.client
	a.announce()
	a.mu.Unlock()
	a.absence.watch(ctx, l)
	a.mu.Lock()
	a.host = nil
	a.announce()
	a.mu.Unlock()
	if context.Cause(ctx) == election.ErrClosed {
		client.Close()
	}
	return nil
}

// end closes the client of a session that was closed without a lease: nothing is attached then. It
// ends with the session.
func (a *Assigner) end(c *client.Client) {
	<-a.session.Done()
	c.Close()
}

// announce tells the calls that wait that client or host has changed. a.mu is held.
func (a *Assigner) announce() {
	close(a.arrived)
	a.arrived = make(chan struct{})
}

// present waits for the first client, or the next lease.
func (a *Assigner) present(ctx context.Context, lease bool) (*client.Client, *hosting, error) {
	for {
		a.mu.Lock()
		client, host, arrived := a.client, a.host, a.arrived
		a.mu.Unlock()
		if client != nil && (host != nil || !lease) {
			return client, host, nil
		}
		select {
		case <-arrived:
		case <-a.session.Done():
			return nil, nil, ErrClosed
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (a *Assigner) submitter(ctx context.Context) (*client.Client, error) {
	if a == nil || a.session == nil {
		return nil, ErrNoClient
	}
	client, _, err := a.present(ctx, false)
	if why := bridge.Unopened(a.session); err != nil && ctx.Err() != nil && why != nil {
		return nil, fmt.Errorf("assign: the session is not open yet: %w: %w", why, err)
	} else if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf(
			"assign: the session is not open yet (is Manager.Run running, or was Session.Open called?): %w", err)
	}
	return client, err
}

// Role returns the role whose leader hands out the tasks, as Config names it, and the Lead that
// does so. Both go into a roles.Role or an election.RoleConfig, so that the name is written once:
//
//	name, lead := a.Role()
//	err := m.Add(roles.Role{Name: name, Lead: lead})
func (a *Assigner) Role() (name string, lead func(context.Context, *election.Term) error) {
	return a.cfg.Role, a.Lead
}

// Namespace is the assigner's namespace.
func (a *Assigner) Namespace() string { return a.cfg.Namespace }

// work is the worker's attachment: it runs once per lease.
func (a *Assigner) work(ctx context.Context, h election.Host) error {
	cfg := a.cfg.worker()
	cfg.Shortcut = &a.shortcut
	return worker.Run(ctx, bridge.LeaseOf(h).(lease), a.session, cfg, a.handlers)
}

// Lead hands out the namespace's tasks for one term. It is the Lead of the role that Config names.
// It returns nil when ctx has ended. Errors: ErrOtherRole, ErrFenced, election.ErrStoreRegressed,
// ErrStreamNotFound, an unfit stream, ErrOtherStream, ErrAttemptsExhausted, ErrInconsistent,
// election.ErrPermission with the subject that is denied, permanent faults of the connection.
func (a *Assigner) Lead(ctx context.Context, t *election.Term) error {
	if a == nil || a.session == nil {
		return ErrNoClient
	}
	if err := a.leads(t); err != nil {
		return err
	}
	a.absence.led.Store(true)
	_, host, err := a.present(ctx, true)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	cfg := a.cfg.scheduler()
	cfg.Shortcut = &a.shortcut
	return scheduler.Run(ctx, t, host.h, cfg)
}

// leads refuses the term of another role: the workers would not believe its frames.
func (a *Assigner) leads(t *election.Term) error {
	if t.Role() == a.cfg.Role {
		return nil
	}
	return fmt.Errorf(
		"%w: the term is of role %q, and Config.Role is %q: use the name and the Lead that Assigner.Role returns",
		ErrOtherRole, t.Role(), a.cfg.Role)
}
