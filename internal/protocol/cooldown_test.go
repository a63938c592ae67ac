package protocol

import (
	"testing"
	"time"
)

// TestCoolDownIsCapped: a process whose work fails again and again stays out for twice as long each
// time, up to 32 times its CoolDown and no longer.
func TestCoolDownIsCapped(t *testing.T) {
	g := newRig(t, func(c *Config) { c.CoolDown = time.Second })
	until := func(what string, done func() bool) {
		t.Helper()
		for began := g.now.Observer; !done(); g.run(10*time.Millisecond, nil) {
			if g.now.Observer.Sub(began) > 2*time.Minute {
				t.Fatalf("not within two minutes: %s", what)
			}
		}
	}
	g.step(Join{RoleConfig{Name: "r"}})
	for n, want := range []time.Duration{1, 2, 4, 8, 16, 32, 32, 32} {
		want *= time.Second
		until("it leads", func() bool { return g.m.Status("r").Leading })
		term := g.begin("r").Epoch
		g.effs = nil
		failed := g.now.Observer
		g.step(Returned{Role: "r", Term: term, Failed: true}) // at once: it resets nothing
		g.step(Drained{Role: "r", Term: term})
		until("it may claim again", func() bool { return !g.m.Status("r").Cooling })
		if got := g.now.Observer.Sub(failed); got < want || got > want+20*time.Millisecond {
			t.Errorf("failure %d: it stays out for %v, want %v", n+1, got, want)
		}
	}
}

// TestAbsenceIsTold: the member record says why a member would not lead a role that it takes part
// in, and is written again only when that changes.
func TestAbsenceIsTold(t *testing.T) {
	g := newRig(t, func(c *Config) { c.CoolDown = time.Minute })
	g.step(Join{RoleConfig{Name: "r"}})
	says := func(want string) {
		t.Helper()
		g.run(3*time.Second, nil)
		said, _ := g.m.own.said.Candidacy("r")
		if said.Out != want || said.Eligible != (want == "") {
			t.Errorf("says %+v, want %q", said, want)
		}
	}
	says("")
	g.step(Pause{ID: 1, Role: "r"})
	g.step(Drained{Role: "r", Term: g.begin("r").Epoch})
	says("paused")
	written := g.m.own.wanted
	g.run(10*time.Second, nil)
	if g.m.own.wanted != written {
		t.Error("the record is written again though nothing has changed")
	}
	g.effs = nil
	g.step(Resume{ID: 2, Role: "r"})
	says("")
	term := g.begin("r").Epoch
	g.step(Returned{Role: "r", Term: term, Failed: true})
	g.step(Drained{Role: "r", Term: term})
	says("cooling down")
	g.step(Health{Role: "r"})
	says("unhealthy")
}
