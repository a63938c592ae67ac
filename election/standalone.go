package election

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/nats-io/nats.go"
)

// shared are the sessions of standalone elections: one per connection, bucket and instance, however
// many roles.
var shared = struct {
	sync.Mutex
	sessions map[sharedKey]*sharedSession
}{sessions: map[sharedKey]*sharedSession{}}

type sharedKey struct {
	nc       *nats.Conn
	bucket   string
	domain   string
	prefix   string
	instance string // as configured, so that "" means one generated id for all
}

type sharedSession struct {
	*Session
	key    sharedKey
	given  SessionConfig
	users  int
	once   sync.Once
	ctx    context.Context // of the opening; ends when nobody uses it any more
	cancel context.CancelFunc
}

// New makes an election that needs no session from the caller. Elections on the same connection,
// bucket and instance share one session. It opens with the first Start and is closed when the last
// of them has stopped. The session has the sinks of the first election. New does no I/O. Errors:
// every fault of cfg at once, ErrSessionConflict, ErrDuplicateRole.
//
// For a program with several roles, use a Manager of package roles, which owns the session and
// reports its state.
func New(nc *nats.Conn, cfg Config) (*Election, error) {
	if err := errors.Join(cfg.Validate(), checkConn(nc)); err != nil {
		return nil, err
	}
	s, err := acquire(nc, cfg.SessionConfig)
	if err != nil {
		return nil, err
	}
	e, err := s.Campaign(cfg.RoleConfig)
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	e.shared = s
	return e, nil
}

func acquire(nc *nats.Conn, cfg SessionConfig) (*sharedSession, error) {
	key := sharedKey{nc, cfg.Bucket, cfg.Domain, cfg.APIPrefix, cfg.InstanceID}
	shared.Lock()
	defer shared.Unlock()
	if s := shared.sessions[key]; s != nil && !s.ended() && !s.box.Closed() {
		if !sameConfig(s.given, cfg) {
			return nil, fmt.Errorf("%w: use the same SessionConfig for every role of instance %q", ErrSessionConflict,
				s.Instance())
		}
		s.users++
		return s, nil
	}
	session, err := NewSession(cfg)
	if err != nil {
		return nil, err
	}
	s := &sharedSession{Session: session, key: key, given: cfg, users: 1}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	shared.sessions[key] = s
	return s, nil
}

// sameConfig compares what two elections want of one session. Sinks cannot be compared.
func sameConfig(a, b SessionConfig) bool {
	a.Sinks, b.Sinks = nil, nil
	a.clock, b.clock = nil, nil
	return reflect.DeepEqual(a, b)
}

// open begins the opening, once. A failure ends the session, and so the elections that use it.
func (s *sharedSession) open() {
	s.once.Do(func() {
		go func() { _ = s.Open(s.ctx, s.key.nc) }() // joined by the session's Done; its error is the session's
	})
}

// awaitOpen waits until the session was open once.
func (s *sharedSession) awaitOpen(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-s.done:
		if err := s.Err(); err != nil {
			return err
		}
		return ErrClosed // stopped meanwhile
	case <-ctx.Done():
		return fmt.Errorf("election: start: %w", ctx.Err())
	}
}

// release is called once by each user; the last one closes the session.
func (s *sharedSession) release() error {
	shared.Lock()
	s.users--
	last := s.users == 0
	if last && shared.sessions[s.key] == s {
		delete(shared.sessions, s.key)
	}
	shared.Unlock()
	if !last {
		return nil
	}
	s.once.Do(func() {}) // not opened any more
	err := s.Close(context.Background())
	s.cancel()
	return err
}
