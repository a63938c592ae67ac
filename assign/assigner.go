package assign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// Assigner is one process's part in one namespace: it runs tasks, hands them out while it leads the role, and submits. It
// lives and dies with its session.
type Assigner struct {
	session *election.Session
	cfg     Config
	sub     subjects
	offer   chan struct{} // size 1: the handlers have changed

	mu       sync.Mutex
	handlers map[string]HandlerFunc
	client   *Client // nil until the session was open once
	host     *hosting
	arrived  chan struct{}  // closed, and made anew, when client or host changes
	blocked  map[string]int // tasks whose handlers have outlived their session, and the slots that these take

	unchecked sync.Once   // it was said that signatures are not checked
	led       atomic.Bool // Lead was called
	missing   string      // why nobody hands out, as reported last; of the goroutine that attends
}

// hosting is the present lease, for Lead.
type hosting struct {
	ctx context.Context
	h   election.Host
}

// New attaches an assigner to a session; it begins with the session's lease and ends with the session. It works as soon as
// it has handlers, and hands out when [Assigner.Lead] is called by the leader of cfg.Role. A session has one assigner of a
// namespace. Errors: every fault of cfg, a *ConfigError each, joined; one for a session that is nil; ErrDuplicateNamespace,
// election.ErrClosed.
func New(s *election.Session, cfg Config) (*Assigner, error) {
	if s == nil {
		return nil, &ConfigError{"Session", "nil: use what election.NewSession returns"}
	}
	cfg = cfg.withDefaults(s.Config().DrainTimeout)
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.Labels, cfg.Middleware = maps.Clone(cfg.Labels), slices.Clone(cfg.Middleware)
	a := &Assigner{
		session: s, cfg: cfg, sub: subjectsOf(cfg.Namespace), offer: make(chan struct{}, 1),
		handlers: map[string]HandlerFunc{}, arrived: make(chan struct{}), blocked: map[string]int{},
	}
	if err := s.AttachOnce("assign "+cfg.Namespace, a.attend); err != nil {
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

// attend makes the lease known to Lead and to those that submit.
func (a *Assigner) attend(ctx context.Context, h election.Host) error {
	a.mu.Lock()
	if a.client == nil {
		client, err := NewClient(h.Conn(), a.cfg.client())
		if err != nil {
			a.mu.Unlock()
			return err
		}
		a.client = client
	}
	a.host = &hosting{ctx, h}
	client := a.client
	a.announce()
	a.mu.Unlock()
	a.awaitLeaders(ctx, h)
	a.mu.Lock()
	a.host = nil
	a.announce()
	a.mu.Unlock()
	if context.Cause(ctx) == election.ErrClosed {
		client.Close()
	}
	return nil
}

// announce tells who waits that client or host have changed. a.mu is held.
func (a *Assigner) announce() {
	close(a.arrived)
	a.arrived = make(chan struct{})
}

// present waits for the first client, or the next lease.
func (a *Assigner) present(ctx context.Context, lease bool) (*Client, *hosting, error) {
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

func (a *Assigner) submitter(ctx context.Context) (*Client, error) {
	if a == nil || a.session == nil {
		return nil, ErrNoClient
	}
	client, _, err := a.present(ctx, false)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("assign: the session is not open yet (is Manager.Run running, or was Session.Open called?): %w", err)
	}
	return client, err
}

// unverified says once that signatures are not checked, if so.
func (a *Assigner) unverified(h election.Host) {
	if a.cfg.Verify == VerifyOff {
		a.unchecked.Do(func() { h.Emit(event.FramesUnverified{Meta: h.Meta(), Namespace: a.cfg.Namespace}) })
	}
}

// Namespace is the assigner's namespace.
func (a *Assigner) Namespace() string { return a.cfg.Namespace }

// block counts the slots of a task's handlers that still run though their session is gone.
func (a *Assigner) block(id string, slots int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.blocked[id] += slots; a.blocked[id] == 0 {
		delete(a.blocked, id)
	}
}

// blockedTasks are the tasks of such handlers with their slots, nil for none.
func (a *Assigner) blockedTasks() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.blocked) == 0 {
		return nil
	}
	return maps.Clone(a.blocked)
}
