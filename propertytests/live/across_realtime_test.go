//go:build realtime

package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

const (
	bucketAcross = "across"
	ttlAcross    = 2 * time.Second
)

// site is a place in one NATS system, with one process, and the way from there to the bucket.
type site struct {
	name    string
	network natstest.Network
	domain  string // in which its process looks for the bucket
	way     fault  // nil for a site that keeps the bucket
}

// fault is what goes wrong on the way between two places.
type fault interface {
	Cut()
	Delay(time.Duration)
	Heal()
}

// across is a number of processes at several sites that take part in one role.
type across struct {
	t        *testing.T
	observer *election.Observer
	role     election.RoleConfig          // what each takes part in, beside its name and its work
	sessions map[string]*election.Session // by the name of the site

	mu    sync.Mutex
	terms []leading
	both  int // how often two terms were valid at once
}

// leading is a term, and the site of its process.
type leading struct {
	*election.Term
	at string
}

// acrossSites opens a session at each site, and an observer at the first one, which keeps the
// bucket.
func acrossSites(t *testing.T, sites ...site) *across {
	t.Helper()
	return acrossZones(t, election.RoleConfig{}, sites...)
}

// acrossZones is acrossSites, with a role that has more than a name. Each site is a zone.
func acrossZones(t *testing.T, role election.RoleConfig, sites ...site) *across {
	t.Helper()
	a := &across{t: t, role: role, sessions: map[string]*election.Session{}}
	for _, s := range sites {
		a.join(s)
	}
	o, err := election.Observe(t.Context(), natstest.Connect(t, sites[0].network), bucketAcross,
		election.WithDomain(sites[0].domain))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	a.observer = o
	return a
}

func (a *across) join(at site) {
	a.t.Helper()
	s, err := election.NewSession(election.SessionConfig{
		Bucket: bucketAcross, Domain: at.domain, InstanceID: at.name, TTL: ttlAcross, Zone: at.name,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	nc := natstest.Connect(a.t, at.network, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err := s.Open(a.t.Context(), nc); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = s.Close(context.Background()) })
	cfg := a.role
	cfg.Role, cfg.Lead = role, func(ctx context.Context, term *election.Term) error {
		a.began(leading{term, at.name})
		for ctx.Err() == nil {
			a.check()
			time.Sleep(time.Millisecond)
		}
		return nil
	}
	e, err := s.Campaign(cfg)
	if err == nil {
		err = e.Start(a.t.Context())
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.sessions[at.name] = s
}

func (a *across) began(l leading) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(a.terms, func(before leading) bool { return before.Epoch() == l.Epoch() }) {
		a.t.Errorf("E2: epoch %d was given twice", l.Epoch())
	}
	a.terms = append(a.terms, l)
}

// check: at most one term is valid. A term that is valid when it is looked at last was so when the
// first one was looked at.
func (a *across) check() {
	a.mu.Lock()
	defer a.mu.Unlock()
	var valid []string
	for _, l := range a.terms {
		if l.Valid() {
			valid = append(valid, fmt.Sprintf("%s with epoch %d", l.at, l.Epoch()))
		}
	}
	if len(valid) > 1 {
		if a.both++; a.both == 1 {
			a.t.Errorf("E1: two terms are valid at once: %v", valid)
		}
	}
}

// led waits until a term is valid of which something holds.
func (a *across) led(what string, holds func(leading) bool) (found leading) {
	a.t.Helper()
	natstest.Eventually(a.t, what, patience, func() (bool, string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, l := range a.terms {
			if l.Valid() && holds(l) {
				found = l
			}
		}
		return found.Term != nil, fmt.Sprintf("%d terms", len(a.terms))
	})
	return found
}

// handTo gives the role to the process at a site.
func (a *across) handTo(to string) leading {
	a.t.Helper()
	natstest.Eventually(a.t, to+" is given the role", patience, func() (bool, string) {
		if now, _ := a.observer.Role(role); now.Leader == to {
			return true, ""
		}
		ctx, cancel := context.WithTimeout(a.t.Context(), 2*ttlAcross)
		defer cancel()
		err := a.observer.Transfer(ctx, role, to, 0) // an answer may be lost, and others may be quicker
		return err == nil, fmt.Sprint(err)
	})
	return a.led(to+" leads", func(l leading) bool { return l.at == to })
}

// together waits until the session of every site has had a heartbeat acknowledged since.
func (a *across) together(since time.Time) {
	a.t.Helper()
	natstest.Eventually(a.t, "every process has its session", patience, func() (bool, string) {
		var errs []error
		for name, s := range a.sessions {
			if at, _ := s.LastHeartbeat(); s.Err() != nil || at.Before(since) {
				errs = append(errs, fmt.Errorf("%s: %w, last heartbeat %v ago", name, s.Err(), time.Since(at)))
			}
		}
		return len(errs) == 0, fmt.Sprint(errors.Join(errs...))
	})
}

// cut plays a cycle: one site is cut off from the bucket, comes back over a slow way, and has a
// good one again. If far, the process at that site leads when it is cut off, else the one at home.
// It returns whether a leader was cut off.
func (a *across) cut(off site, home string, far bool, all *counts) (hit bool) {
	a.t.Helper()
	leads := home
	if far {
		leads = off.name
	}
	before := a.handTo(leads)
	off.way.Cut()
	if hit = far && before.Valid(); hit {
		all.add(1, "leaders cut off from their bucket")
	}
	if far {
		after := a.led("a process that reaches the bucket leads", func(l leading) bool { return l.at != off.name })
		if after.Epoch() <= before.Epoch() {
			a.t.Errorf("E2: epoch %d after %d", after.Epoch(), before.Epoch())
		}
	} else {
		natstest.Eventually(a.t, off.name+" is missed", patience, func() (bool, string) {
			there := slices.ContainsFunc(a.observer.Members(),
				func(m election.MemberInfo) bool { return m.Instance == off.name })
			return !there, fmt.Sprint(a.observer.Members())
		})
		if before.Valid() {
			all.add(1, "terms that lasted while another site was cut off")
		}
	}
	since := time.Now()
	off.way.Heal()
	off.way.Delay(20 * time.Millisecond)
	a.together(since)
	off.way.Heal()
	return hit
}

// playAcross has a process at home and one at each other site, and cuts off one of these after the
// other. The leader is at that site in two cycles of three.
func playAcross(t *testing.T, home site, far ...site) {
	a := acrossSites(t, append([]site{home}, far...)...)
	var all counts
	n, cutOff := cycles(t), 0
	for i := range n {
		if a.cut(far[i%len(far)], home.name, i%3 != 2, &all) {
			cutOff++
		}
	}
	if 2*cutOff < n {
		t.Errorf("in %d of %d cycles the leader was cut off, want half of them at least", cutOff, n)
	}
	all.add(n, "cuts")
	all.add(len(a.terms), "terms")
	all.add(a.both, "violations")
	played(t, n, "a site cut off from the bucket, and back over a slow way", all)
}
