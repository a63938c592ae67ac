package assign_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// contend takes part in a role beside what the node does by itself.
func (n *node) contend(role string, lead func(context.Context, *election.Term) error) {
	n.t.Helper()
	e, err := n.session.Campaign(election.RoleConfig{Role: role, Lead: lead})
	if err != nil {
		n.t.Fatal(err)
	}
	if err := e.Start(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
}

// missing counts how often the node has said that nobody hands out, for that reason.
func (n *node) missing(reason string) int {
	return n.count(func(e event.Event) bool {
		m, ok := e.(event.SchedulerMissing)
		return ok && m.Reason == reason && m.Role == testRole && m.Namespace == testNS
	})
}

// TestRoleOfAnAssigner: the name and the Lead that it returns hand the tasks out.
func TestRoleOfAnAssigner(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", doubling(t, "a", newTally()), follower)
		name, lead := a.a.Role()
		if name != testRole {
			t.Errorf("role %q, want %q", name, testRole)
		}
		a.contend(name, lead)
		p, err := assign.Submit(t.Context(), a.a, double, 21)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); out != 42 || err != nil {
			t.Errorf("%d, %v\n%s", out, err, a.dump())
		}
		time.Sleep(2 * testTTL)
		if n := a.count(func(e event.Event) bool { _, ok := e.(event.SchedulerMissing); return ok }); n != 0 {
			t.Errorf("a scheduler leads, and was missed %d times\n%s", n, a.dump())
		}
	})
}

// TestTwoRolesForANamespace: each leader is told that the other one is there, and under which role
// it leads itself. A scheduler that was deposed in its own role is not told so.
func TestTwoRolesForANamespace(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		other := func(_ *election.SessionConfig, a *assign.Config, campaign *bool) { a.Role, *campaign = "other", false }
		a := newNode(t, s, "a", nil)
		leader(t, a)
		b := newNode(t, s, "b", nil, other)
		name, lead := b.a.Role()
		b.contend(name, lead)
		rivals := func(role string) func(event.Event) bool {
			return func(e event.Event) bool {
				x, is := e.(event.WorkReturned)
				return is && errors.Is(x.Err, assign.ErrFenced) &&
					strings.Contains(x.Err.Error(), "still leads role \""+role+"\"") && strings.Contains(x.Err.Error(), "Config.Role")
			}
		}
		natstest.Eventually(t, "both say it", time.Minute, func() (bool, string) {
			return a.count(rivals(testRole)) > 0 && b.count(rivals("other")) > 0, a.dump() + b.dump()
		})
	})
}

// TestLeadUnderAnotherRole: a term of another role than the configured one is refused, with both
// names.
func TestLeadUnderAnotherRole(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil, follower)
		a.contend("other", a.a.Lead)
		var returned error
		natstest.Eventually(t, "the work is refused", 30*time.Second, func() (bool, string) {
			return a.count(func(e event.Event) bool {
				w, ok := e.(event.WorkReturned)
				if ok {
					returned = w.Err
				}
				return ok
			}) > 0, a.dump()
		})
		if !errors.Is(returned, assign.ErrOtherRole) || !strings.Contains(returned.Error(), `"other"`) ||
			!strings.Contains(returned.Error(), `"`+testRole+`"`) {
			t.Errorf("%v: want %v with both names", returned, assign.ErrOtherRole)
		}
	})
}

// TestMissingScheduler: that nobody hands out is said once for each reason, and again when it was
// over meanwhile.
func TestMissingScheduler(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		says := func(n *node, reason string, want int) {
			t.Helper()
			time.Sleep(3 * testTTL)
			if got := n.missing(reason); got != want {
				t.Errorf("%s has said %d times that there is no scheduler (%s), want %d\n%s", n.name, got, reason, want, n.dump())
			}
		}
		w := newNode(t, s, "w", nil, workerOnly)
		a := newNode(t, s, "a", nil, follower)
		says(a, event.SchedulerNoCandidate, 1)
		says(a, event.SchedulerNoCandidate, 1)
		says(w, event.SchedulerNoLeader, 1) // it does not see who takes part

		b := newNode(t, s, "b", nil)
		leader(t, b)
		time.Sleep(3 * testTTL)
		b.close(t)
		says(a, event.SchedulerNoCandidate, 2)
		says(w, event.SchedulerNoLeader, 2)
	})
}

// TestUnfitScheduler: a candidate that does not lead, and a leader that does something else, are
// told apart from none.
func TestUnfitScheduler(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil, follower)
		b := newNode(t, s, "b", nil, follower)
		b.contend(testRole, func(context.Context, *election.Term) error { return errors.New("not today") })
		natstest.Eventually(t, "nobody leads", time.Minute, func() (bool, string) {
			return a.missing(event.SchedulerNoLeader) > 0, a.dump()
		})

		a.contend(testRole, func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})
		natstest.Eventually(t, "the leader does something else", time.Minute, func() (bool, string) {
			return a.missing(event.SchedulerOtherLead) == 1, a.dump()
		})
		if n := a.missing(event.SchedulerNoCandidate); n != 0 {
			t.Errorf("a candidate was overlooked %d times\n%s", n, a.dump())
		}
	})
}
