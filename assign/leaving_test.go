package assign_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// lingering has a node lead one more role, whose work takes a while to return.
func lingering(t *testing.T, n *node, d time.Duration) {
	t.Helper()
	e, err := n.session.Campaign(election.RoleConfig{Role: "another"})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() {
		ran <- e.Run(context.Background(), func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			time.Sleep(d)
			return nil
		})
	}()
	t.Cleanup(func() {
		n.close(t)
		<-ran
	})
	natstest.Eventually(t, "it leads the other role", 30*time.Second, func() (bool, string) { return e.IsLeader(), "" })
}

// attached has a session end later for the sake of something else that is attached to it: the tasks
// of another namespace, say.
func attached(t *testing.T, n *node, d time.Duration) {
	t.Helper()
	if err := n.session.Attach("another", func(ctx context.Context, _ election.Host) error {
		<-ctx.Done()
		time.Sleep(d)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestASessionThatEndsLaterThanItsTasks: what a process that shuts down still does for other roles,
// or for another namespace, keeps no tasks waiting, neither those of the present scheduler nor
// those of the next one.
func TestASessionThatEndsLaterThanItsTasks(t *testing.T) {
	for name, x := range map[string]struct {
		leads bool
		what  func(*testing.T, *node, time.Duration)
	}{
		"the scheduler, for a role": {true, lingering}, "the scheduler, for a namespace": {true, attached},
		"a worker, for a role": {false, lingering}, "a worker, for a namespace": {false, attached},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				ids := []string{"one", "two", "three", "four"}
				h, patient := newHeld(ids...), drainTimeout(time.Minute)
				var a *node
				if x.leads {
					a = newNode(t, s, "a", h.register(t, "a"), patient)
					leader(t, a)
					newNode(t, s, "b", h.register(t, "b"), patient)
				} else {
					leader(t, newNode(t, s, "b", h.register(t, "b"), patient))
					a = newNode(t, s, "a", h.register(t, "a"), patient, follower)
				}
				x.what(t, a, 30*time.Second)
				c := New(t, s)
				time.Sleep(5 * time.Second)
				done := closing(t, a)
				natstest.Settle(t)
				began := time.Now()
				var all []*assign.Pending[string]
				for _, id := range ids {
					close(h.gates[id])
					p, err := assign.Submit(t.Context(), c, slow, "x", assign.WithID(id))
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, p)
				}
				for _, p := range all {
					if by, err := p.Wait(t.Context()); by != "by b" || err != nil {
						t.Errorf("%s: %s, %v", p.ID(), by, err)
					}
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("the tasks have ended after %v", took)
				}
				<-done
			})
		})
	}
}

// TestASessionThatEndsWithoutALease: what an assigner has opened ends with its session, also when
// that was cut off before it was closed. Something that remains is fatal to the bubble.
func TestASessionThatEndsWithoutALease(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		n := newNode(t, s, "a", nil)
		leader(t, n)
		if _, err := assign.ListRecurrences(t.Context(), n.a, assign.RecurrenceListOptions{}); err != nil {
			t.Fatal(err)
		}
		n.link.Cut()
		time.Sleep(time.Minute)
		n.close(t)
		if _, err := assign.Get(t.Context(), n.a, "x"); !errors.Is(err, assign.ErrClosed) {
			t.Errorf("a question of the closed session: %v", err)
		}
	})
}
