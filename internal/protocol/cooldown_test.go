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
