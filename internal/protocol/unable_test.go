package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// besideUnable returns a rig that may lead one role and leads r1, beside b, which may lead one too
// and leads none. Both may take either role.
func besideUnable(t *testing.T) *rig {
	g := newRig(t, func(c *Config) { c.MaxRoles = 1 })
	g.step(Join{RoleConfig{Name: "r1", Spread: true}})
	g.run(3*time.Second, nil)
	if g.m.leading != 1 {
		t.Fatal("does not lead r1")
	}
	g.joins(candidate("b"), 2, record.Candidacy{Eligible: true, Spread: true})
	g.ables("b", true)
	return g
}

// ables has a member that may lead one role say whether it would lead r0. It would lead r1.
func (g *rig) ables(instance string, able bool) {
	takes := record.Candidacy{Eligible: true, Spread: true}
	first := takes
	first.Eligible = able
	peer := candidate(instance)
	g.sees(record.MemberKey(peer), record.Member{
		V: 1, Session: g.m.view.Peer(peer).Session(), MaxRoles: 1,
		Roles: record.CandidaciesOf(map[string]record.Candidacy{"r0": first, "r1": takes}),
	})
}

// TestGivenToOneThatIsUnable: r0 was given to b, which would not lead it any more, be it that it
// said so before or since. We are full, so it waits until b has taken r1 from us, and for nothing
// else.
func TestGivenToOneThatIsUnable(t *testing.T) {
	for name, before := range map[string]bool{"before": true, "since": false} {
		t.Run(name, func(t *testing.T) {
			g := besideUnable(t)
			g.joins(candidate("c"), 0, record.Candidacy{})
			g.sees(record.RoleKey("r0"), record.Role{
				V: 1, ID: "c", Session: g.m.view.Peer(candidate("c")).Session(), Token: "t", TTLms: 120_000,
			})
			given := record.Role{V: 1, Vacant: true, By: "c", Next: "b", Reason: "balanced", TTLms: 120_000}
			g.step(Join{RoleConfig{Name: "r0", Spread: true}})
			g.ables("b", !before)
			g.run(4*time.Second, nil)
			if asked := g.asked(); len(asked) > 0 {
				t.Fatalf("asked %v while c leads r0", asked)
			}
			g.sees(record.RoleKey("r0"), given)
			g.ables("b", false)
			g.run(3*g.m.cfg.Heartbeat, nil)
			asked := g.asked()
			if len(asked) != 1 || asked[0].Instance != "b" || asked[0].Request.Role != "r1" {
				t.Fatalf("asked %v, want b for r1", asked)
			}
			term := g.m.view.Role("r1").Revision
			g.step(Answered{Role: "r1", Target: "b", OK: true})
			g.step(Drained{Role: "r1", Term: term})
			g.sees(record.RoleKey("r1"), record.Role{
				V: 1, ID: "b", Session: g.m.view.Peer(candidate("b")).Session(), Token: "t", TTLms: 120_000,
			})
			if g.run(100*time.Millisecond, nil); !g.m.view.Role("r0").Held() || g.m.leading != 1 {
				t.Error("nobody leads r0")
			}
		})
	}
}

// TestGivenToNobodyThatIsUnable: b has agreed to take a role, and would not lead it any more when
// our work has returned. It is given to nobody.
func TestGivenToNobodyThatIsUnable(t *testing.T) {
	g, role, term := agreesToMove(t, 2)
	g.joins(candidate("b"), 2, record.Candidacy{Spread: true})
	g.step(Drained{Role: role, Term: term})
	for _, w := range g.sent(record.RoleKey(role)) {
		e := record.Decode(w.Key, w.Value, 1, false, g.m.cfg.MaxTTL)
		if e.Role.Vacant && e.Role.Next != "" {
			t.Errorf("it is given to %s", e.Role.Next)
		}
	}
	if g.run(100*time.Millisecond, nil); g.m.part(role).term == nil || !g.m.part(role).term.leading() {
		t.Errorf("it is not led again: %+v", g.m.view.Role(role).Role)
	}
}

// TestPromiseOfOneThatIsUnable: we have promised to take r0, so there is no room for r1. When we
// would not lead r0 any more there is.
func TestPromiseOfOneThatIsUnable(t *testing.T) {
	g := newRig(t, func(c *Config) { c.MaxRoles = 1 })
	g.joins(candidate("b"), 2, record.Candidacy{Spread: true})
	session := g.m.view.Peer(candidate("b")).Session()
	for _, role := range []string{"r0", "r1"} {
		g.sees(record.RoleKey(role), record.Role{V: 1, ID: "b", Session: session, Token: "t", TTLms: 120_000})
		g.step(Join{RoleConfig{Name: role, Spread: true}})
	}
	g.run(time.Second, nil)
	g.step(Asked{ID: 1, Request: Request{ID: "x", Op: OpReady, Role: "r0"}})
	g.run(100*time.Millisecond, nil)
	if done, ok := g.done(1); !ok || done.Err != nil {
		t.Fatalf("does not take r0: %v", done.Err)
	}
	g.sees(record.RoleKey("r1"), record.Role{V: 1, Vacant: true, By: "b", TTLms: 120_000})
	if g.run(100*time.Millisecond, nil); g.m.leading > 0 {
		t.Fatal("leads r1 beside its promise")
	}
	g.step(Pause{ID: 2, Role: "r0"})
	if g.run(100*time.Millisecond, nil); g.m.leading != 1 {
		t.Error("does not lead r1 although it would not take r0 any more")
	}
}
