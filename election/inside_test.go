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

// waits are the calls that wait until the work of a role has drained.
func waits(s *election.Session, e *election.Election) map[string]func() error {
	return map[string]func() error{
		"StepDown": func() error { return e.StepDown(context.Background()) },
		"Transfer": func() error { return e.Transfer(context.Background(), "b") },
		"Stop":     func() error { return e.Stop() },
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
