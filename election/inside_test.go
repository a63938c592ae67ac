package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// waits are the calls that wait until the work of a role has drained, and cannot be carried out
// without that.
func waits(s *election.Session, e *election.Election) map[string]func() error {
	return map[string]func() error{
		"Transfer": func() error { return e.Transfer(context.Background(), "b") },
		"Close":    func() error { return s.Close(context.Background()) },
	}
}

// TestCallsFromInsideTheWork: a call that would wait for its caller is refused at once, and changes
// nothing. Beside the work, and from the work of another role, it is carried out.
func TestCallsFromInsideTheWork(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		begun := make(chan struct{}, 8) // more than there are terms
		var e *election.Election
		refused := func(where string) {
			for name, call := range waits(session, e) {
				began := time.Now()
				if err := call(); !errors.Is(err, election.ErrInsideWork) || time.Since(began) > 0 {
					t.Errorf("%s from %s: %v after %v", name, where, err, time.Since(began))
				}
			}
		}
		e, err := session.Campaign(election.RoleConfig{Role: "r", Lead: func(ctx context.Context, _ *election.Term) error {
			refused("Lead")
			begun <- struct{}{}
			<-ctx.Done()
			refused("Lead, after the term")
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		e.OnPromote(func(ctx context.Context, _ fencing.Token) {
			refused("OnPromote")
			<-ctx.Done()
		})
		e.OnDemote(func() { refused("OnDemote") })
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "the first term", begun)
		other, err := session.Campaign(election.RoleConfig{
			Role: "other",
			Lead: func(ctx context.Context, _ *election.Term) error {
				if err := e.StepDown(ctx); err != nil {
					t.Errorf("step down from the work of another role: %v", err)
				}
				begun <- struct{}{}
				<-ctx.Done()
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "the step-down", begun)
		receive(t, "the next term", begun)
		if err := e.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

// TestGivingUpFromInsideTheWork: the call does not wait for its caller. It ends the term, and the
// role is given up when the work has returned.
func TestGivingUpFromInsideTheWork(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, rival := open(t, s, instance("a")), open(t, s, instance("b"))
		for role, giveUp := range map[string]func(*election.Election) error{
			"StepDown": func(e *election.Election) error { return e.StepDown(context.Background()) },
			"Stop":     func(e *election.Election) error { return e.Stop() },
		} {
			var e *election.Election
			call := func(where string) {
				began := time.Now()
				if err := giveUp(e); !errors.Is(err, election.ErrInsideWork) || time.Since(began) > 0 {
					t.Errorf("%s from %s: %v after %v", role, where, err, time.Since(began))
				}
			}
			begun, begin, returns := make(chan struct{}, 1), make(chan struct{}), make(chan time.Time, 1)
			e, err := session.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, _ *election.Term) error {
				begun <- struct{}{}
				<-begin
				call("Lead")
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, election.ErrSteppedDown) {
					t.Errorf("%s: the term ended by %v", role, cause)
				}
				time.Sleep(time.Second)
				returns <- time.Now()
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			e.OnDemote(func() { call("OnDemote") })
			if err := e.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			receive(t, role, begun)
			next := make(chan time.Time, 1)
			b, err := rival.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, _ *election.Term) error {
				next <- time.Now()
				<-ctx.Done()
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			close(begin)
			returned := receive(t, role+": the return", returns)
			if took := receive(t, role+": the next leader", next).Sub(returned); took < 0 || took > time.Second {
				t.Errorf("%s: the next leader began %v after the return", role, took)
			}
			if role == "Stop" {
				<-e.Done()
			}
		}
	})
}
