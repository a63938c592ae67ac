package controllerruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// ErrNotHeld says that this process does not lead the role, or not for long enough.
var ErrNotHeld = errors.New("controllerruntime: the role is not led by this process")

// LockConfig has the two times of the elector that uses a Lock. They have to be the same.
type LockConfig struct {
	// Role is the name of the role.
	Role string
	// RenewDeadline and RetryPeriod are those of the elector. Together they have to be below what a
	// session is sure of: TTL - SafetyMargin - 2 * HeartbeatInterval, which is 4 s with a TTL of 10 s.
	RenewDeadline, RetryPeriod time.Duration
}

// Lock is a role as a lock of client-go. Give its Lead to the role, and the Lock to the elector.
type Lock struct {
	session *election.Session
	cfg     LockConfig

	mu      sync.Mutex
	term    *election.Term
	won     chan struct{} // closed when a term begins, and replaced when it ends
	renewed time.Time     // when the elector renewed last, zero if it does not lead
	freed   chan struct{} // closed when it has released the lock
	stop    func(error)   // of Start, which stops the manager
	stopped chan struct{} // closed when its runnables have
}

var _ resourcelock.Interface = (*Lock)(nil)

// NewLock makes a lock of a role of the session. An elector that could lead longer than the session
// is sure of is refused.
func NewLock(s *election.Session, cfg LockConfig) (*Lock, error) {
	c := s.Config()
	sure := c.TTL - c.SafetyMargin - 2*c.HeartbeatInterval
	if holds := cfg.RenewDeadline + cfg.RetryPeriod; cfg.Role == "" || cfg.RetryPeriod <= 0 || holds > sure {
		return nil, fmt.Errorf("controllerruntime: role %q: RenewDeadline + RetryPeriod is %v, and has to be at most %v: "+
			"make these shorter, or TTL longer", cfg.Role, holds, sure)
	}
	return &Lock{session: s, cfg: cfg, won: make(chan struct{})}, nil
}

// holds is for how long the elector may lead after a renewal.
func (l *Lock) holds() time.Duration { return l.cfg.RenewDeadline + l.cfg.RetryPeriod }

// lost reports whether an elector has led in a term that has ended.
func (l *Lock) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.renewed.IsZero() && (l.term == nil || !l.term.Valid())
}

// Lead is the Lead of the role. It gives the role up when no elector renews the lock for
// RenewDeadline and RetryPeriod, because the elector has ended, or its caches are not warm yet.
//
// After the end of the term it returns when the runnables of Start have. Without Start it
// returns when the elector has released the lock, or must have stopped. DrainTimeout of the session
// has to be longer than RenewDeadline and RetryPeriod then.
func (l *Lock) Lead(ctx context.Context, t *election.Term) error {
	l.mu.Lock()
	l.term, l.freed, l.renewed = t, make(chan struct{}), time.Time{}
	close(l.won)
	freed, manager := l.freed, l.stopped
	l.mu.Unlock()
	l.await(ctx, freed, manager)
	l.mu.Lock()
	renewed, stop, stopped := l.renewed, l.stop, l.stopped // Start may have come after the term began
	l.term, l.won = nil, make(chan struct{})
	l.mu.Unlock()
	switch {
	case renewed.IsZero():
	case stop != nil:
		stop(context.Cause(ctx))
		<-stopped
	default:
		timer := time.NewTimer(time.Until(renewed.Add(l.holds())))
		defer timer.Stop()
		select {
		case <-freed:
		case <-timer.C:
		}
	}
	return nil
}

// await returns at the end of the term, or when no elector leads in it.
func (l *Lock) await(ctx context.Context, freed, stopped chan struct{}) {
	look := time.NewTicker(l.holds())
	defer look.Stop()
	for before := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-freed:
			return
		case <-stopped:
			return
		case <-look.C:
		}
		l.mu.Lock()
		idle := !l.renewed.After(before)
		l.mu.Unlock()
		if idle {
			return
		}
		before = time.Now().Add(-l.holds()) // an elector may lead for as long without renewing
	}
}

// Get implements resourcelock.Interface. It waits for a term, for RetryPeriod at most, so that a
// term is noticed at once.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.mu.Lock()
	won := l.won
	l.mu.Unlock()
	timer := time.NewTimer(l.cfg.RetryPeriod)
	defer timer.Stop()
	select {
	case <-won:
	case <-timer.C:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	var r resourcelock.LeaderElectionRecord
	info, _ := l.session.Role(l.cfg.Role)
	l.mu.Lock()
	if l.term == nil && info.Leader != l.Identity() {
		r.HolderIdentity = info.Leader
	} else if l.term != nil && !l.renewed.IsZero() {
		r.HolderIdentity = l.Identity()
	}
	l.mu.Unlock()
	r.LeaseDurationSeconds = int(l.session.Config().TTL / time.Second)
	r.RenewTime = metav1.Now() // the session says who leads now
	raw, err := json.Marshal(r)
	return &r, raw, err
}

// Create implements resourcelock.Interface.
func (l *Lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, r)
}

// Update implements resourcelock.Interface: it renews while this process leads, and is sure of that
// for as long as the elector would lead on. Without a holder it releases the lock. Errors:
// ErrNotHeld.
func (l *Lock) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.HolderIdentity == "" {
		if !l.renewed.IsZero() {
			select {
			case <-l.freed:
			default:
				close(l.freed)
			}
		}
		return nil
	}
	now := time.Now() // before the trust is read
	if l.term == nil || !l.term.Valid() || l.stop == nil && bridge.TrustedFor(l.session) < l.holds() {
		return ErrNotHeld
	}
	l.renewed = now
	return nil
}

// RecordEvent implements resourcelock.Interface. The session has events of its own.
func (l *Lock) RecordEvent(string) {}

// Identity implements resourcelock.Interface: the instance of the session.
func (l *Lock) Identity() string { return l.session.Instance() }

// Describe implements resourcelock.Interface.
func (l *Lock) Describe() string { return l.session.Bucket() + "/" + l.cfg.Role }
