package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// leader is a leader of two roles in which b follows.
func leader(t *testing.T) *rig {
	t.Helper()
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r", VacateUndrained: true}})
	g.step(Join{RoleConfig{Name: "s"}})
	g.sees("c.lease.b", record.Lease{V: 1, Nonce: "b", TTLms: 60_000, State: record.Idle})
	g.sees("c.member.b", record.Member{
		V: 1, Session: g.rev, Roles: record.CandidaciesOf(map[string]record.Candidacy{
			"r": {Eligible: true}, "s": {Eligible: true},
		}),
	})
	g.begin("r")
	g.begin("s")
	return g
}

func (g *rig) woken() (woken []Wake) {
	for _, e := range g.effs {
		if w, ok := e.(Wake); ok {
			woken = append(woken, w)
		}
	}
	return woken
}

// TestWake: when the work of a term begins to drain, the instance that follows is told once, for
// all roles together; and nobody is told when there is nothing to give away, or when the one that
// follows has just said that it is ready.
func TestWake(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(g *rig)
		woken int
	}{
		"step down": {func(g *rig) { g.step(StepDown{ID: 1, Role: "r"}) }, 1},
		"stop":      {func(g *rig) { g.step(Leave{ID: 1, Role: "r", Vacate: true}) }, 1},
		"unhealthy": {func(g *rig) { g.step(Health{Role: "r"}) }, 1},
		"returned":  {func(g *rig) { g.step(Returned{Role: "r", Term: g.begin("r").Epoch}) }, 1},
		"close":     {func(g *rig) { g.step(Close{Timeout: time.Second}) }, 1},
		"left to the end of the session": {func(g *rig) {
			g.step(Leave{ID: 1, Role: "r"})
			g.step(Drained{"r", g.begin("r").Epoch})
		}, 0},
		"transferred": {func(g *rig) {
			g.step(Transfer{ID: 1, Role: "r", Target: "b"})
			g.step(Answered{Role: "r", Target: "b", OK: true})
		}, 0},
		"evicted": {func(g *rig) {
			g.sees("c.role.r", record.Role{V: 1, Vacant: true, Forced: true, By: "a", TTLms: 6000})
		}, 0},
		"one after the other": {func(g *rig) {
			g.step(StepDown{ID: 1, Role: "r"})
			g.step(StepDown{ID: 2, Role: "s"})
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := leader(t)
			c.end(g)
			woken := g.woken()
			if len(woken) != c.woken {
				t.Fatalf("woken: %v, want %d", woken, c.woken)
			}
			for _, w := range woken {
				if w.Instance != "b" || w.Request.Op != OpReady {
					t.Errorf("%+v", w)
				}
			}
			if c.woken > 0 && g.m.part("r").term.drained {
				t.Error("it was told after the drain")
			}
		})
	}
}

// TestWoken: an instance that was told claims the role in the step in which it sees that it is
// vacant. One that was not has to beat first.
func TestWoken(t *testing.T) {
	for _, told := range []bool{true, false} {
		g := newRig(t, nil)
		g.sees("c.lease.b", record.Lease{V: 1, Nonce: "b", TTLms: 60_000, State: record.Idle})
		session := g.rev
		g.sees("c.role.r", record.Role{V: 1, ID: "b", Session: session, Token: "t", TTLms: 6000})
		g.step(Join{RoleConfig{Name: "r"}})
		for g.m.lease.awake() {
			g.run(100*time.Millisecond, nil)
		}
		if told {
			g.step(Asked{ID: 7, Request: Request{ID: "x", Op: OpReady, Role: "r"}})
			if _, answered := g.done(7); !answered || !g.m.lease.awake() {
				t.Fatal("it was told and does not beat")
			}
		}
		g.mute = true
		g.sees("c.role.r", record.Role{V: 1, Vacant: true, By: "b", TTLms: 6000})
		claims := len(g.pend) > 0 && g.pend[len(g.pend)-1].Key == record.RoleKey("r")
		if claims != told {
			t.Errorf("told %v: it claims at once %v", told, claims)
		}
	}
}
