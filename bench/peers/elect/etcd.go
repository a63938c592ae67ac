package elect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	etcd "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

var etcdPeer = Peer{
	Name: "etcd", Module: "go.etcd.io/etcd/client/v3", Store: "etcd", Settled: aSecond,
	Settings: func(ttl time.Duration) string {
		return fmt.Sprintf("session TTL %v; the connection is asked every %v, and given up after %v", ttl, etcdAlive(ttl),
			etcdAlive(ttl))
	},
	Open: func(_ context.Context, c Config, w Work) (Candidate, error) {
		client, err := etcd.New(etcd.Config{
			Endpoints: []string{c.Addr}, DialTimeout: 10 * time.Second, Logger: zap.NewNop(),
			DialKeepAliveTime: etcdAlive(c.TTL), DialKeepAliveTimeout: etcdAlive(c.TTL),
		})
		if err != nil {
			return nil, err
		}
		e := &etcdCandidate{c: c, client: client, w: w, all: map[string]*etcdStand{}}
		_, err = e.session(nil)
		return e, err
	},
}

func etcdAlive(ttl time.Duration) time.Duration { return ttl / 2 }

type etcdCandidate struct {
	c      Config
	client *etcd.Client
	w      Work

	mu  sync.RWMutex
	s   *concurrency.Session
	all map[string]*etcdStand
}

// etcdStand is one role's loop: campaign, work until the session is gone or somebody asks, campaign
// again.
type etcdStand struct {
	ask    chan chan error
	cancel context.CancelFunc
	leads  atomic.Pointer[concurrency.Session]
}

// session is the one of all roles; one that has ended is replaced.
func (e *etcdCandidate) session(ended *concurrency.Session) (*concurrency.Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.s != ended {
		return e.s, nil
	}
	s, err := concurrency.NewSession(e.client, concurrency.WithTTL(int(e.c.TTL/time.Second)))
	if err != nil {
		return nil, err
	}
	e.s = s
	return s, nil
}

func (e *etcdCandidate) Stand(ctx context.Context, role string) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &etcdStand{ask: make(chan chan error), cancel: cancel}
	e.mu.Lock()
	e.all[role] = s
	e.mu.Unlock()
	go e.contend(ctx, role, s)
	return nil
}

func (e *etcdCandidate) contend(ctx context.Context, role string, s *etcdStand) {
	e.mu.RLock()
	session := e.s
	e.mu.RUnlock()
	for ctx.Err() == nil {
		select {
		case <-session.Done():
			next, err := e.session(session)
			if err != nil {
				time.Sleep(100 * time.Millisecond) // the store cannot be reached
				continue
			}
			session = next
		default:
		}
		election := concurrency.NewElection(session, "/roles/"+role)
		if err := election.Campaign(ctx, e.c.Instance); err != nil {
			if !errors.Is(err, context.Canceled) {
				time.Sleep(100 * time.Millisecond)
			}
			continue
		}
		s.leads.Store(session)
		e.w.begin(role)
		select {
		case <-session.Done():
			s.leads.Store(nil)
			e.w.end(role)
		case answer := <-s.ask: // its handbook leaves the order to the user: work first
			s.leads.Store(nil)
			e.w.end(role)
			answer <- election.Resign(ctx)
			return
		}
	}
}

func (e *etcdCandidate) of(role string) *etcdStand {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.all[role]
}

func (e *etcdCandidate) Resign(ctx context.Context, role string) error {
	s := e.of(role)
	if s.leads.Load() == nil {
		s.cancel()
		return nil
	}
	answer := make(chan error, 1)
	select {
	case s.ask <- answer:
		return <-answer
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leads is as near as the library comes to an answer: it has led, and its session does not know
// that it is over.
func (e *etcdCandidate) Leads(role string) bool {
	s := e.of(role)
	if s == nil {
		return false
	}
	session := s.leads.Load()
	if session == nil {
		return false
	}
	select {
	case <-session.Done():
		return false
	default:
		return true
	}
}
