package elect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

var rolemanagerPeer = Peer{
	Name: "rolemanager", Store: "nats", Settled: aSecond, Short: true, Guard: true,
	Settings: func(ttl time.Duration) string {
		s, err := newSession(Config{TTL: ttl}, Work{})
		if err != nil {
			return err.Error()
		}
		c := s.Config()
		return fmt.Sprintf(
			"TTL %v; by default a heartbeat every %v, which may take %v, a margin of %v, %v from one candidate to the next",
			c.TTL, c.HeartbeatInterval, c.OpTimeout, c.SafetyMargin, c.SuccessionDelay)
	},
	Open: func(ctx context.Context, c Config, w Work) (Candidate, error) {
		nc, err := dial(c)
		if err != nil {
			return nil, err
		}
		s, err := newSession(c, w)
		if err != nil {
			return nil, err
		}
		return &rolemanager{s: s, w: w, all: map[string]*election.Election{}}, s.Open(ctx, nc)
	},
}

func newSession(c Config, w Work) (*election.Session, error) {
	return election.NewSession(election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: c.Instance, TTL: c.TTL,
		Sinks: []event.Sink{event.SinkFunc(func(e event.Event) {
			if k, ok := e.(event.SessionKilled); ok {
				w.Dead(k.Time) // sinks may be behind
			}
		})},
	})
}

// dial is the connection of every peer that uses NATS: it comes back by itself, and never sends
// what has waited meanwhile.
func dial(c Config) (*nats.Conn, error) {
	return nats.Connect("nats://"+c.Addr, nats.Name(c.Instance), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(50*time.Millisecond))
}

type rolemanager struct {
	s *election.Session
	w Work

	mu  sync.RWMutex
	all map[string]*election.Election
}

func (r *rolemanager) Stand(ctx context.Context, role string) error {
	e, err := r.s.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, _ *election.Term) error {
		r.w.begin(role)
		<-ctx.Done()
		r.w.end(role)
		return nil
	}})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.all[role] = e
	r.mu.Unlock()
	return e.Start(ctx)
}

func (r *rolemanager) of(role string) *election.Election {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.all[role]
}

func (r *rolemanager) Resign(_ context.Context, role string) error { return r.of(role).Stop() }

func (r *rolemanager) Leads(role string) bool {
	e := r.of(role)
	return e != nil && e.IsLeader()
}
