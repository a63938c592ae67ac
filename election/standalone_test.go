package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// standalone makes an election as a program with one role does.
func standalone(t *testing.T, nc *nats.Conn, session election.SessionConfig, role string) *part {
	t.Helper()
	p := newPart()
	var err error
	p.Election, err = election.New(nc, election.Config{
		SessionConfig: session, RoleConfig: election.RoleConfig{Role: role, Lead: p.work},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *part) start(t *testing.T) *election.Term {
	t.Helper()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return receive(t, "promotion", p.began)
}

func stop(t *testing.T, p *part) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// members are the ids of the members as an observer sees them.
func members(o *election.Observer) string {
	ids := []string{}
	for _, m := range o.Members() {
		ids = append(ids, m.Instance)
	}
	return sprint(ids)
}

func TestStandaloneElectionsShareOneSession(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		one, two := standalone(t, nc, instance("a"), "one"), standalone(t, nc, instance("a"), "two")
		one.start(t)
		two.start(t)
		o := observe(t, s)
		r1, _ := o.Role("one")
		r2, _ := o.Role("two")
		if r1.Session == 0 || r1.Session != r2.Session {
			t.Errorf("sessions %d and %d, want one", r1.Session, r2.Session)
		}

		stop(t, one) // the other one still uses the session
		sees(t, o, "two", "led by a", ledBy("a"))
		if !two.IsLeader() || members(o) != "[a]" {
			t.Errorf("after one of two has stopped: leads %v, members %s", two.IsLeader(), members(o))
		}
		stop(t, two) // the last one closes it
		natstest.Eventually(t, "the session is closed", time.Second,
			func() (bool, string) { return members(o) == "[]", members(o) })
		if got, _ := o.Role("two"); !got.Vacant || got.Reason != "stepped down" {
			t.Errorf("role after the stop: %+v", got)
		}

		three := standalone(t, nc, instance("a"), "one") // begins again
		three.start(t)
		r3 := sees(t, o, "one", "led again", ledBy("a"))
		if r3.Session <= r1.Session || r3.Epoch <= r1.Epoch {
			t.Errorf("the new session %d is not above %d", r3.Session, r1.Session)
		}
		stop(t, three)
	})
}

// TestStandaloneGeneratedInstance: no instance id means one generated id for all elections on the
// connection.
func TestStandaloneGeneratedInstance(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		one, two := standalone(t, nc, instance(""), "one"), standalone(t, nc, instance(""), "two")
		if one.start(t).Token().Holder != two.start(t).Token().Holder {
			t.Error("two instances on one connection")
		}
		other := standalone(t, natstest.Connect(t, s), instance(""), "three")
		if other.start(t).Token().Holder == one.Token().Holder {
			t.Error("one instance on two connections")
		}
		for _, p := range []*part{one, two, other} {
			stop(t, p)
		}
	})
}

func TestStandaloneConflicts(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		one := standalone(t, nc, instance("a"), "one")
		other := instance("a")
		other.TTL = 2 * time.Second
		_, err := election.New(nc, election.Config{SessionConfig: other, RoleConfig: election.RoleConfig{Role: "two"}})
		if !errors.Is(err, election.ErrSessionConflict) {
			t.Errorf("another TTL: %v, want %v", err, election.ErrSessionConflict)
		}
		_, err = election.New(nc, election.Config{SessionConfig: instance("a"), RoleConfig: election.RoleConfig{Role: "one"}})
		if !errors.Is(err, election.ErrDuplicateRole) {
			t.Errorf("the same role twice: %v, want %v", err, election.ErrDuplicateRole)
		}
		one.start(t) // neither has harmed the first
		stop(t, one)

		again := standalone(t, nc, other, "one") // nobody uses the first session any more
		again.start(t)
		stop(t, again)
	})
}

// TestStandaloneNeverStarted: an election that is stopped without having been started lets go of
// the shared session.
func TestStandaloneNeverStarted(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		unused, used := standalone(t, nc, instance("a"), "one"), standalone(t, nc, instance("a"), "two")
		used.start(t)
		if err := unused.Stop(); !errors.Is(err, election.ErrNotStarted) {
			t.Errorf("stop: %v, want %v", err, election.ErrNotStarted)
		}
		if err := unused.Start(t.Context()); !errors.Is(err, election.ErrAlreadyStarted) {
			t.Errorf("start after stop: %v, want %v", err, election.ErrAlreadyStarted)
		}
		stop(t, used)
		o := observe(t, s)
		natstest.Eventually(t, "the session is closed", time.Second,
			func() (bool, string) { return members(o) == "[]", members(o) })
	})
}

// TestStandaloneOpeningFails: what keeps the session from opening ends every election that shares
// it.
func TestStandaloneOpeningFails(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.BucketAutoCreate = false
		nc := natstest.Connect(t, s)
		one, two := standalone(t, nc, cfg, "one"), standalone(t, nc, cfg, "two")
		if err := two.Start(t.Context()); !errors.Is(err, election.ErrBucketNotFound) {
			t.Errorf("start: %v, want %v", err, election.ErrBucketNotFound)
		}
		for _, p := range []*part{one, two} {
			if err := p.Run(t.Context(), p.work); !errors.Is(err, election.ErrBucketNotFound) &&
				!errors.Is(err, election.ErrAlreadyStarted) {
				t.Errorf("run: %v, want %v", err, election.ErrBucketNotFound)
			}
			<-p.Done()
			if err := p.Err(); !errors.Is(err, election.ErrBucketNotFound) {
				t.Errorf("ended with %v, want %v", err, election.ErrBucketNotFound)
			}
		}
	})
}

// TestStandaloneStopWhileOpening: Stop does not wait for a server that does not answer.
func TestStandaloneStopWhileOpening(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, link.Options()...)
		link.Cut()
		p := standalone(t, nc, instance("a"), "one")
		started := make(chan error, 1)
		go func() { started <- p.Start(t.Context()) }()
		time.Sleep(10 * time.Second)
		none(t, "started without a server", started)
		began := time.Now()
		err := p.StopWithContext(context.Background(), election.StopOptions{WaitForDemote: true, Timeout: time.Hour})
		t.Logf("stopped after %v: %v", time.Since(began), err)
		if err := receive(t, "start returns", started); !errors.Is(err, election.ErrClosed) {
			t.Errorf("start: %v, want %v", err, election.ErrClosed)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("stop took %v", took)
		}
	})
}

// TestStandaloneStartWithDeadline: the context bounds the wait for the first opening, and ends the
// election.
func TestStandaloneStartWithDeadline(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, link.Options()...)
		link.Cut()
		p := standalone(t, nc, instance("a"), "one")
		began := time.Now()
		if err := p.Start(within(t, 3*time.Second)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("start: %v", err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		receive(t, "the end", after(p.Done()))
	})
}

// TestStandaloneStopWithHealth: nothing is waited for but the hand-over, also while a check runs.
func TestStandaloneStopWithHealth(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		check := election.HealthCheckFunc(func(ctx context.Context) bool {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			return true
		})
		p := newPart()
		var err error
		p.Election, err = election.New(natstest.Connect(t, s), election.Config{
			SessionConfig: instance("a"),
			RoleConfig:    election.RoleConfig{Role: "r", Lead: p.work, Health: check},
		})
		if err != nil {
			t.Fatal(err)
		}
		p.start(t)
		began := time.Now()
		stop(t, p)
		if took := time.Since(began); took > 20*time.Millisecond {
			t.Errorf("stop took %v", took)
		}
	})
}

// TestPromotionReturned: nobody waits for what OnPromote has started, so its return during the term
// is told, and a return at the end of the term is not.
func TestPromotionReturned(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var sink recorder
		cfg := instance("a")
		cfg.Sinks = []event.Sink{&sink}
		session := open(t, s, cfg)
		for role, blocks := range map[string]bool{"blocks": true, "returns": false} {
			e, err := session.Campaign(election.RoleConfig{Role: role})
			if err != nil {
				t.Fatal(err)
			}
			e.OnPromote(func(ctx context.Context, _ fencing.Token) {
				if blocks {
					<-ctx.Done()
				}
			})
			if err := e.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if err := e.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		if all := ofType[event.PromotionReturned](&sink); len(all) != 1 || all[0].Role != "returns" || all[0].Epoch == 0 {
			t.Errorf("%+v", all)
		}
	})
}
