package election_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestOwnOldLeaseIsTold: a process that waits for the lease that it left behind in a crash says so,
// how long that takes, and once.
func TestOwnOldLeaseIsTold(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		cfg := instance("a")
		cfg.TTL = 10 * time.Second
		lead(t, open(t, s, cfg, link.Options()...), election.RoleConfig{Role: "r"})
		link.Cut()
		var sink recorder
		cfg.Sinks = []event.Sink{&sink}
		open(t, s, cfg)
		wait := theWait(t, &sink)
		if !strings.Contains(wait.For, "the last session of a ") || wait.Left <= 5*time.Second || wait.Left > cfg.TTL {
			t.Errorf("it waits %s, for %v", wait.For, wait.Left)
		}
	})
}

// theWait is the one wait that was reported.
func theWait(t *testing.T, sink *recorder) *election.WaitError {
	t.Helper()
	var waits []*election.WaitError
	natstest.Eventually(t, "a wait is reported", time.Minute, func() (bool, string) {
		waits = nil
		for _, f := range ofType[event.Fault](sink) {
			if wait := (*election.WaitError)(nil); errors.As(f.Err, &wait) {
				waits = append(waits, wait)
			}
		}
		return len(waits) > 0, "none"
	})
	if len(waits) != 1 {
		t.Fatalf("%d waits were reported: %v", len(waits), waits)
	}
	return waits[0]
}

// TestAdoptionIsTold: a process that takes no role without a record, since the bucket was adopted,
// says so once, as its status and an observer do.
func TestAdoptionIsTold(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const most = 20 * time.Second
		nc := natstest.Connect(t, s)
		if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket, MaxTTL: most}); err != nil {
			t.Fatal(err)
		}
		a, err := (natskv.Reach{}).Owner(nc, bucket).Adopt(t.Context(), nil)
		if err == nil {
			_, err = a.Purge(t.Context())
		}
		if err == nil {
			_, err = a.Finish(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		var sink recorder
		cfg := instance("a")
		cfg.Sinks = []event.Sink{&sink}
		session := open(t, s, cfg)
		p := campaign(t, session, election.RoleConfig{Role: "r"})
		campaign(t, session, election.RoleConfig{Role: "another"})
		if wait := theWait(t, &sink); !strings.Contains(wait.For, "was adopted") || wait.Left <= most/2 || wait.Left > most {
			t.Errorf("it waits %s, for %v", wait.For, wait.Left)
		}
		o := observe(t, s)
		info, _ := o.Role("r")
		if why := p.Status().Reason; !strings.Contains(why, "was adopted") || !strings.Contains(info.Reason, "was adopted") {
			t.Errorf("its status says %q, an observer %q", why, info.Reason)
		}
		receive(t, "it leads", p.began)
		if why := p.Status().Reason; why != "" {
			t.Errorf("it leads, and its status says %q", why)
		}
	})
}

// TestFaultClosesTheLease: a session that ends since a permission is missing leaves no lease behind
// once its work has returned, so nobody waits for it. While work runs it leaves the lease.
func TestFaultClosesTheLease(t *testing.T) {
	for name, stuck := range map[string]bool{"the work returns": false, "the work does not": true} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				var complaints journal
				cfg := instance("a")
				cfg.TTL, cfg.DrainTimeout = 20*time.Second, 2*time.Second
				open(t, s, instance("owner"), as("owner", &complaints)...) // makes the bucket
				a := open(t, s, cfg, as("a", &complaints)...)
				p := newPart()
				role, hold := election.RoleConfig{Role: "scheduler", Lead: p.work}, make(chan struct{})
				if stuck {
					role.Lead = func(ctx context.Context, term *election.Term) error {
						err := p.work(ctx, term)
						<-hold
						return err
					}
				}
				e, err := a.Campaign(role)
				if err == nil {
					err = e.Start(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				receive(t, "a leads", p.began)
				b := campaign(t, open(t, s, instance("b"), as("owner", &complaints)...), election.RoleConfig{Role: "scheduler"})
				denied := time.Now()
				campaign(t, a, election.RoleConfig{Role: "denied"})
				<-a.Done()
				if !errors.Is(a.Err(), election.ErrPermission) {
					t.Errorf("it ended with %v", a.Err())
				}
				receive(t, "b leads", b.began)
				if took := time.Since(denied); (took >= cfg.TTL/2) != stuck {
					t.Errorf("b leads %v after that", took)
				}
				close(hold)
			}, with(user("a", leading("a", "scheduler"), listening...)))
		})
	}
}
