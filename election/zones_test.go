package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// inZone is an instance that says where it is.
func inZone(id, zone string) election.SessionConfig {
	cfg := instance(id)
	cfg.Zone = zone
	return cfg
}

// led waits until an observer sees who leads r, and returns how long that took.
func led(t *testing.T, o *election.Observer, by string) time.Duration {
	t.Helper()
	from := time.Now()
	sees(t, o, "r", "led by "+by, func(i election.RoleInfo) bool { return i.Leader == by })
	return time.Since(from)
}

// TestZones: a role is led in its best zone, wherever it was won first, after FailBackAfter; when
// that zone is cut off, in the next one; and when it is back, there again, but not before twice
// that time if the fail-back has not lasted.
func TestZones(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const after = 20 * time.Second
		role := election.RoleConfig{Role: "r", Zones: []string{"dc1", "dc2"}, FailBackAfter: after}
		link := s.Link()
		b, o := open(t, s, inZone("b", "dc2")), observe(t, s)
		lead(t, b, role)
		a := open(t, s, inZone("a", "dc1"), append(link.Options(), nats.MaxReconnects(-1))...)
		part := campaign(t, a, role)
		if took := led(t, o, "a"); took < after-time.Second {
			t.Errorf("given back after %v", took)
		}
		receive(t, "a leads", part.began)
		if info, _ := o.Role("r"); info.Candidates[0].Zone != "dc1" || info.Candidates[0].Tier != 2 ||
			info.Candidates[1].Zone != "dc2" || info.Candidates[1].Tier != 1 {
			t.Errorf("in line: %+v", info.Candidates)
		}
		link.Cut()
		if took := led(t, o, "b"); took > 5*time.Second {
			t.Errorf("dc2 leads %v after dc1 was cut off", took)
		}
		link.Heal()
		if took := led(t, o, "a"); took < 2*after-5*time.Second {
			t.Errorf("given back %v after a fail-back that has not lasted", took)
		}
	})
}

// TestDrainedZone: the roles of a zone that is drained are handed over, and a process that starts
// there later leads none of them, but one that nobody else could lead. Undrained, the zone leads
// again after FailBackAfter, or when the time is over that the operator has said.
func TestDrainedZone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		role := election.RoleConfig{Role: "r", Zones: []string{"dc1", "dc2"}, FailBackAfter: 5 * time.Second}
		a, b := open(t, s, inZone("a", "dc1")), open(t, s, inZone("b", "dc2"))
		o := observe(t, s)
		part, _ := lead(t, a, role)
		campaign(t, b, role)
		lead(t, a, election.RoleConfig{Role: "own"})
		sees(t, o, "r", "with two in line", func(i election.RoleInfo) bool { return len(i.Candidates) == 2 })

		power := election.Steering{Reason: "power", For: time.Minute}
		if err := o.DrainZone(t.Context(), "dc1", power); err != nil {
			t.Fatal(err)
		}
		led(t, o, "b")
		if cause := receive(t, "the term ends", part.ended); !errors.Is(cause, election.ErrZoneDrained) {
			t.Errorf("ended for %v", cause)
		}
		late := open(t, s, inZone("late", "dc1"))
		campaign(t, late, role)
		sees(t, o, "r", "with all in line", func(i election.RoleInfo) bool { return len(i.Candidates) == 3 })
		time.Sleep(15 * time.Second)
		if r, _ := o.Role("r"); r.Leader != "b" || r.Candidates[1].Tier != -1 || r.Candidates[2].Tier != -1 {
			t.Errorf("while it is drained: %+v", r)
		}
		if own, _ := o.Role("own"); own.Leader != "a" {
			t.Errorf("what nobody else can lead is led by %q", own.Leader)
		}
		time.Sleep(2 * time.Minute) // the server looks now and then
		led(t, o, "a")

		if err := o.DrainZone(t.Context(), "dc1", election.Steering{Hard: true}); err != nil {
			t.Fatal(err)
		}
		sees(t, o, "own", "led by nobody", func(i election.RoleInfo) bool { return i.Leader == "" && i.Vacant })
		if err := o.UndrainZone(t.Context(), "dc1"); err != nil {
			t.Fatal(err)
		}
		sees(t, o, "own", "led again", func(i election.RoleInfo) bool { return i.Leader == "a" })
	})
}

// TestPausedForAll: a role that is paused in the bucket is led by nobody, also not by a process
// that starts later, until it is resumed.
func TestPausedForAll(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := open(t, s, instance("a"))
		o := observe(t, s)
		part, _ := lead(t, a, election.RoleConfig{Role: "r"})
		if err := o.PauseRole(t.Context(), "r", election.Steering{By: "ops"}); err != nil {
			t.Fatal(err)
		}
		if cause := receive(t, "the term ends", part.ended); !errors.Is(cause, election.ErrRolePaused) {
			t.Errorf("ended for %v", cause)
		}
		campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "r"})
		time.Sleep(30 * time.Second)
		if r, _ := o.Role("r"); r.Leader != "" || len(r.Candidates) > 0 || part.Status().Reason != "role paused" {
			t.Errorf("while it is paused: %+v, %+v", r, part.Status())
		}
		for range 2 {
			if err := o.ResumeRole(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			sees(t, o, "r", "led", func(i election.RoleInfo) bool { return i.Leader != "" })
		}
		for name, err := range map[string]error{
			"a name":     o.DrainZone(context.Background(), "d c", election.Steering{}),
			"a duration": o.PauseRole(context.Background(), "r", election.Steering{For: time.Millisecond}),
		} {
			if invalid := (*election.ConfigError)(nil); !errors.As(err, &invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestSteeredAgain: an operator steers again at once, by another observer each time, as rolectl
// does. The marker of what was taken back, or has run out, still stands then, and so may what
// cannot be read.
func TestSteeredAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		lead(t, open(t, s, instance("a")), election.RoleConfig{Role: "r"})
		said := election.Steering{By: "ops"}
		fresh := func(what string, do func(o *election.Observer) error) {
			t.Helper()
			o := observe(t, s)
			defer o.Close()
			if err := do(o); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		for range 2 {
			fresh("pause", func(o *election.Observer) error { return o.PauseRole(t.Context(), "r", said) })
			fresh("resume", func(o *election.Observer) error { return o.ResumeRole(t.Context(), "r") })
			fresh("drain", func(o *election.Observer) error { return o.DrainZone(t.Context(), "dc1", said) })
			fresh("undrain", func(o *election.Observer) error { return o.UndrainZone(t.Context(), "dc1") })
		}
		fresh("pause for a while", func(o *election.Observer) error {
			return o.PauseRole(t.Context(), "r", election.Steering{For: 5 * time.Second})
		})
		o := observe(t, s)
		natstest.Eventually(t, "it has run out", 2*time.Minute, func() (bool, string) {
			return len(o.Steered()) == 0, sprint(o.Steered())
		})
		fresh("pause after that", func(o *election.Observer) error { return o.PauseRole(t.Context(), "r", said) })
		if _, err := natstest.Connect(t, s).Request("$KV.roles.c.steer.zone.dc2", []byte("{"), time.Minute); err != nil {
			t.Fatal(err)
		}
		fresh("over what cannot be read", func(o *election.Observer) error {
			return o.DrainZone(t.Context(), "dc2", said)
		})
	})
}

// TestSteeredAtOnce: what an observer has told counts for its own next word, whether or not the
// watch has shown it yet.
func TestSteeredAtOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		open(t, s, instance("a"))
		o := observe(t, s)
		for i := range 50 {
			if err := o.PauseRole(t.Context(), "r", election.Steering{By: "ops"}); err != nil {
				t.Fatalf("pause %d: %v", i, err)
			}
			if all := o.Steered(); len(all) != 1 {
				t.Fatalf("paused %d times, and it knows of %+v", i, all)
			}
			if err := o.ResumeRole(t.Context(), "r"); err != nil {
				t.Fatalf("resume %d: %v", i, err)
			}
			if all := o.Steered(); len(all) != 0 {
				t.Fatalf("resumed %d times, and it knows of %+v", i, all)
			}
		}
	})
}
