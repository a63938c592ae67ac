package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestPutOut: a role that is taken from its leader by force, whether it still led or already
// drained, is not claimed by it again before the others' wait and its own cool-down are over,
// though it is the only candidate; and a process that is told to resume does not wait.
func TestPutOut(t *testing.T) {
	const ttl, coolDown = 6 * time.Second, 4 * time.Second
	for name, before := range map[string]func(*rig){
		"leading":  func(*rig) {},
		"draining": func(g *rig) { g.step(StepDown{ID: 7, Role: "r"}) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, func(c *Config) { c.CoolDown = coolDown })
			g.step(Join{RoleConfig{Name: "r"}})
			g.run(3*time.Second, nil)
			term := g.begin("r").Epoch
			before(g)
			at := g.now.Observer
			g.sees(record.RoleKey("r"), record.Role{
				V: record.Version, TTLms: ttl.Milliseconds(), Vacant: true, By: "a",
				Reason: "evicted", Forced: true,
			})
			g.step(Drained{"r", term})
			if s := g.m.Status("r"); s.Leading || !s.Cooling || s.Eligible {
				t.Fatalf("after it was put out: %+v", s)
			}
			g.effs = nil
			g.run(time.Minute, func() {
				if g.claims("r") && g.now.Observer.Sub(at) < ttl+coolDown {
					t.Fatalf("claimed %v after it was put out, want %v at least", g.now.Observer.Sub(at), ttl+coolDown)
				}
			})
			if !g.m.Status("r").Leading {
				t.Error("it does not lead a minute later, though nobody else is there")
			}
		})
	}
	t.Run("resumed", func(t *testing.T) {
		g := newRig(t, nil)
		g.step(Join{RoleConfig{Name: "r"}})
		g.run(3*time.Second, nil)
		g.sees(record.RoleKey("r"), record.Role{
			V: record.Version, TTLms: ttl.Milliseconds(), Vacant: true, By: "a",
			Forced: true,
		})
		g.step(Drained{"r", g.begin("r").Epoch})
		g.step(Resume{ID: 8, Role: "r"})
		g.run(ttl+time.Second, nil)
		if !g.m.Status("r").Leading {
			t.Error("resumed, it does not lead once the lease time is over")
		}
	})
}
