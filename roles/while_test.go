package roles_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// TestWhile: one manager for each site and one for all of them; "global" is led by the process that
// leads "local", and moves with it.
func TestWhile(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		work := func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		}
		site := func(id string) (here, all *node) {
			here = start(t, s, id, []roles.Role{{Name: "local", Lead: work}}, func(c *roles.Config) { c.Bucket = "dc1" })
			all = start(t, s, id, []roles.Role{{Name: "global", Lead: work, While: roles.While(here.Manager, "local")}})
			return here, all
		}
		hereA, allA := site("a")
		allA.follows("global", "a")
		hereB, allB := site("b")
		allB.sees("global", "b waits", func(st roles.RoleStatus) bool { return st.Reason == "waits for local@dc1" })
		hereB.follows("local", "a")
		if err := hereA.StepDown(t.Context(), "local"); err != nil {
			t.Fatal(err)
		}
		allA.follows("global", "b")
		allA.sees("global", "a waits", func(st roles.RoleStatus) bool { return st.Reason == "waits for local@dc1" })
	})
}

// TestWhileIsChecked: what a role depends on is there before.
func TestWhileIsChecked(t *testing.T) {
	work := func(context.Context, *election.Term) error { return nil }
	cfg := roles.Config{URL: "nats://localhost:1", Bucket: "b", TTL: time.Second}
	m, err := roles.New(cfg, roles.Role{Name: "local", Lead: work})
	if err != nil {
		t.Fatal(err)
	}
	waits := func(name string, on roles.Condition) roles.Role { return roles.Role{Name: name, Lead: work, While: on} }
	var fault *roles.ConfigError
	if _, err := roles.New(cfg, waits("global", roles.While(nil, "local"))); !errors.As(err, &fault) ||
		fault.Field != "While" {
		t.Errorf("no manager: %v", err)
	}
	if _, err := roles.New(cfg, waits("global", roles.While(m, "other"))); !errors.Is(err, roles.ErrUnknownRole) {
		t.Errorf("no such role: %v", err)
	}
	err = m.Add(waits("x", roles.While(m, "y")), waits("y", roles.While(m, "x")))
	if !errors.Is(err, roles.ErrUnknownRole) {
		t.Errorf("a cycle: %v", err)
	}
	if err := m.Add(waits("global", roles.While(m, "local"))); err != nil {
		t.Errorf("of the same manager: %v", err)
	}
}
