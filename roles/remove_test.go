package roles_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// TestRemoveFromInsideTheWork: Remove does not wait, and the role is removed after the work.
func TestRemoveFromInsideTheWork(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var n *node
		errs := make(chan error, 1)
		begin := make(chan struct{})
		n = start(t, s, "a", one(roles.Role{Name: "r", Lead: func(ctx context.Context, _ *election.Term) error {
			<-begin
			errs <- n.Remove(context.Background(), "r")
			<-ctx.Done()
			return nil
		}}))
		close(begin)
		if err := receive(t, "the answer", errs); !errors.Is(err, election.ErrInsideWork) {
			t.Error(err)
		}
		e, _ := n.Election("r")
		<-e.Done()
		if err := n.Add(roles.Role{Name: "r", Lead: newWork().lead}); err != nil {
			t.Error(err)
		}
	})
}

// TestAddOneTooMany: a role for which the member record has no room is refused, with all roles of
// that call, and the manager continues with the others.
func TestAddOneTooMany(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		n := start(t, s, "a", one(w.role("first")))
		term := receive(t, "a term", w.began)
		long := strings.Repeat("n", 190)
		var err error
		for i := 0; err == nil && i < 1000; i++ {
			err = n.Add(w.role(fmt.Sprint(long, i)), w.role(fmt.Sprint(long, "-", i)))
		}
		if fault := (*election.TooLargeError)(nil); !errors.As(err, &fault) {
			t.Fatal(err)
		}
		if roles := len(n.Status().Roles); roles%2 != 1 {
			t.Errorf("%d roles", roles)
		}
		if err := n.Add(w.role("short")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if !term.Valid() {
			t.Error("the term has ended")
		}
	}, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.MaxPayload = 8 << 10 }
	})
}

// TestStoppedBeforeRun: a role whose election was stopped, as Remove does it first, does not keep
// the manager from running with the others.
func TestStoppedBeforeRun(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		m, err := roles.New(config(s, "a"), w.role("stopped"), w.role("runs"))
		if err != nil {
			t.Fatal(err)
		}
		e, _ := m.Election("stopped")
		if err := e.Stop(); !errors.Is(err, election.ErrNotStarted) {
			t.Fatal(err)
		}
		n := &node{Manager: m, t: t}
		n.run()
		if term := receive(t, "a term", w.began); term.Role() != "runs" {
			t.Errorf("leads %s", term.Role())
		}
		if err := n.Remove(t.Context(), "stopped"); err != nil {
			t.Error(err)
		}
		if err := n.Add(w.role("stopped")); err != nil {
			t.Error(err)
		}
		receive(t, "the removed role is led", w.began)
	})
}

// TestRemoveWhileRunBegins: whichever comes first, Run continues without the removed roles.
func TestRemoveWhileRunBegins(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		for i := range 50 {
			w := newWork()
			var all []roles.Role
			for k := range 20 {
				all = append(all, w.role(fmt.Sprint("r", k)))
			}
			m, err := roles.New(config(s, fmt.Sprint("i", i)), all...)
			if err != nil {
				t.Fatal(err)
			}
			var removing sync.WaitGroup
			removing.Go(func() {
				for _, r := range all[1:] {
					if err := m.Remove(context.Background(), r.Name); err != nil {
						t.Error(err)
					}
				}
			})
			n := &node{Manager: m, t: t}
			n.run()
			removing.Wait()
			n.sees("r0", "it leads", func(st roles.RoleStatus) bool { return st.IsLeader })
			if st := n.Status(); len(st.Roles) != 1 {
				t.Errorf("round %d: %d roles are left", i, len(st.Roles))
			}
			if err := n.end(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
