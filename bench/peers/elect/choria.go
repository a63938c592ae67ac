package elect

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	choria "github.com/choria-io/go-choria/providers/election/streams"
	"github.com/nats-io/nats.go"
)

var choriaPeer = Peer{
	Name: "choria", Module: "github.com/choria-io/go-choria", Store: "nats",
	Settings: func(ttl time.Duration) string {
		return fmt.Sprintf("TTL %v, of the bucket's keys; a campaign every %v, which it chooses itself", ttl, ttl*3/4)
	},
	Prepare: func(_ context.Context, addr string, ttl time.Duration) error {
		return makeBucket(addr, "CHORIA_LEADER_ELECTION", ttl)
	},
	Open: func(_ context.Context, c Config, w Work) (Candidate, error) {
		nc, err := dial(c)
		if err != nil {
			return nil, err
		}
		js, err := nc.JetStream()
		if err != nil {
			return nil, err
		}
		kv, err := js.KeyValue("CHORIA_LEADER_ELECTION")
		return &choriaCandidate{c: c, kv: kv, w: w, all: map[string]*choriaStand{}}, err
	},
	// It waits for up to five seconds before its first campaign, and campaigns every three quarters
	// of the TTL.
	Settled: func(ttl time.Duration) time.Duration { return 5*time.Second + ttl },
}

type choriaCandidate struct {
	c  Config
	kv nats.KeyValue
	w  Work

	mu  sync.RWMutex
	all map[string]*choriaStand
}

// choriaStand is one election. Its OnLost is not called when it is cancelled, so the caller that
// cancels it ends the work.
type choriaStand struct {
	isLeader func() bool
	cancel   context.CancelFunc
	done     chan struct{}
	works    atomic.Bool
}

func (c *choriaCandidate) Stand(ctx context.Context, role string) error {
	s := &choriaStand{done: make(chan struct{})}
	e, err := choria.NewElection(c.c.Instance, role, c.kv,
		choria.OnWon(func() {
			s.works.Store(true)
			c.w.begin(role)
		}),
		choria.OnLost(func() {
			if s.works.Swap(false) {
				c.w.end(role)
			}
		}))
	if err != nil {
		return err
	}
	s.isLeader = e.IsLeader
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.mu.Lock()
	c.all[role] = s
	c.mu.Unlock()
	go func() {
		defer close(s.done)
		_ = e.Start(ctx) // cancelled
	}()
	return nil
}

func (c *choriaCandidate) of(role string) *choriaStand {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all[role]
}

func (c *choriaCandidate) Resign(_ context.Context, role string) error {
	s := c.of(role)
	s.cancel()
	<-s.done
	if s.works.Swap(false) {
		c.w.end(role)
	}
	return nil
}

func (c *choriaCandidate) Leads(role string) bool {
	s := c.of(role)
	return s != nil && s.isLeader()
}
