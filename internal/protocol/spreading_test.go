package protocol

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// spreads returns a rig that leads r0 to rN-1, which are spread.
func spreads(t *testing.T, roles int) *rig {
	g := newRig(t, nil)
	for i := range roles {
		g.step(Join{RoleConfig{Name: fmt.Sprintf("r%d", i), Spread: true}})
	}
	g.run(10*time.Second, nil)
	if g.m.leading != roles {
		t.Fatalf("leads %d of %d roles", g.m.leading, roles)
	}
	g.effs = nil
	return g
}

// joins has a process join that says the same of r0 to rN-1.
func (g *rig) joins(peer record.Peer, roles int, said record.Candidacy) {
	m := record.Member{V: 1, Session: g.rev + 1}
	for i := range roles {
		m.Roles = append(m.Roles, record.RoleCandidacy{Role: fmt.Sprintf("r%d", i), Candidacy: said})
	}
	m.Roles.Sort()
	g.sees(record.LeaseKey(peer), record.Lease{
		V: 1, Session: m.Session, Nonce: peer.Instance, TTLms: 120_000, State: record.Live,
	})
	g.sees(record.MemberKey(peer), m)
}

func candidate(instance string) record.Peer {
	return record.Peer{Class: record.Candidate, Instance: instance}
}

// agreesToMove returns a rig that leads r0 to rN-1, and is to give one of them to b, which has
// agreed to take it: that role, and its term.
func agreesToMove(t *testing.T, roles int) (g *rig, role string, term uint64) {
	t.Helper()
	g = spreads(t, roles)
	g.joins(candidate("b"), roles, record.Candidacy{Eligible: true, Spread: true})
	g.run(6*time.Second, nil)
	asked := g.asked()
	if len(asked) != 1 {
		t.Fatalf("asked %v", asked)
	}
	role = asked[0].Request.Role
	term = g.m.View().Role(role).Revision
	g.step(Answered{Role: role, Target: "b", OK: true})
	return g, role, term
}

// asked is whom we have asked whether it takes a role.
func (g *rig) asked() (all []Ask) {
	for _, e := range g.effs {
		if a, ok := e.(Ask); ok && a.Request.Op == OpReady {
			all = append(all, a)
		}
	}
	return all
}

// declines answers no to all that is asked for the sake of balance.
func (g *rig) declines() {
	for _, r := range slices.Clone(g.m.active.list) {
		if h := &r.term.handover; h.target != "" && h.cause == Balanced {
			g.step(Answered{Role: r.Name, Target: h.target})
		}
	}
}

// TestTakeoverAfterBalance: a better candidate comes while another one is asked for the sake of
// balance. That one declines, so the better one is asked.
func TestTakeoverAfterBalance(t *testing.T) {
	g := spreads(t, 2)
	g.joins(candidate("b"), 2, record.Candidacy{Eligible: true, Spread: true})
	g.run(6*time.Second, nil)
	before := g.asked()
	if len(before) != 1 || !before[0].Request.Balance {
		t.Fatalf("asked %v", before)
	}
	role := before[0].Request.Role
	g.joins(candidate("c"), 2, record.Candidacy{Eligible: true, Spread: true, Priority: 5, Takeover: true})
	g.run(time.Second, nil)
	for range 100 {
		g.declines()
		g.run(100*time.Millisecond, nil)
	}
	if !slices.ContainsFunc(g.asked(), func(a Ask) bool { return a.Instance == "c" && a.Request.Role == role }) {
		t.Errorf("c never asked for %s: %v", role, g.asked())
	}
}

// TestBalanceGoesOnAfterALeave: a role is left and joined again while its work drains, so that
// another process leads it. When that is done, the next role moves.
func TestBalanceGoesOnAfterALeave(t *testing.T) {
	g, role, term := agreesToMove(t, 4)
	g.step(Leave{ID: 1, Role: role})
	g.step(Join{RoleConfig{Name: role, Spread: true}})
	g.step(Drained{Role: role, Term: term})
	g.run(100*time.Millisecond, nil)
	rv := g.m.View().Role(role)
	if !rv.Role.Vacant || rv.Role.Next != "b" {
		t.Fatalf("it is not given away: %+v", rv.Role)
	}
	b := g.m.View().Peer(candidate("b"))
	g.sees("c.role."+role, record.Role{V: 1, ID: "b", Session: b.Session(), TTLms: 120_000, Token: "t"})
	g.run(30*time.Second, nil)
	if now := g.asked(); len(now) < 2 || now[1].Request.Role == role {
		t.Errorf("no other role moves: asked %v", now)
	}
}

// TestBalanceFollowsTheLoadOfOthers: a role in which we take no part goes from one member to
// another, so that a role of ours is to move.
func TestBalanceFollowsTheLoadOfOthers(t *testing.T) {
	g := spreads(t, 2)
	takes := func(instance string, roles ...string) (session uint64) {
		m := record.Member{V: 1, Session: g.rev + 1}
		for _, role := range roles {
			said := record.Candidacy{Eligible: true, Spread: role[0] == 'r'}
			m.Roles = append(m.Roles, record.RoleCandidacy{Role: role, Candidacy: said})
		}
		m.Roles.Sort()
		g.sees(record.LeaseKey(candidate(instance)), record.Lease{
			V: 1, Session: m.Session, Nonce: instance, TTLms: 120_000, State: record.Live,
		})
		g.sees(record.MemberKey(candidate(instance)), m)
		return m.Session
	}
	leads := func(instance string, session uint64) {
		for _, role := range []string{"x0", "x1"} {
			g.sees("c.role."+role, record.Role{V: 1, ID: instance, Session: session, TTLms: 120_000, Token: "t"})
		}
	}
	leads("b", takes("b", "r0", "r1", "x0", "x1"))
	c := takes("c", "x0", "x1")
	g.run(20*time.Second, nil)
	if asked := g.asked(); len(asked) > 0 {
		t.Fatalf("asked %v while all was even", asked)
	}
	leads("c", c)
	g.run(20*time.Second, nil)
	if asked := g.asked(); len(asked) == 0 || asked[0].Instance != "b" {
		t.Errorf("asked %v", asked)
	}
}

// TestBalancesWhileProcessesCome: processes come all the time. Roles move all the same: within two
// heartbeats if those spread nothing in the group, else within a TTL and a heartbeat.
func TestBalancesWhileProcessesCome(t *testing.T) {
	const heartbeat, ttl = time.Second, 6 * time.Second
	for name, c := range map[string]struct {
		comes func(g *rig, id string)
		most  time.Duration
	}{
		"nobody": {func(*rig, string) {}, 2 * heartbeat},
		"workers": {func(g *rig, id string) {
			g.joins(record.Peer{Class: record.Worker, Instance: id}, 0, record.Candidacy{})
		}, 2 * heartbeat},
		"members of another group": {func(g *rig, id string) {
			g.joins(candidate(id), 1, record.Candidacy{Eligible: true, Spread: true, Group: "other"})
		}, 2 * heartbeat},
		"members without roles": {func(g *rig, id string) { g.joins(candidate(id), 0, record.Candidacy{}) }, 2 * heartbeat},
		"members of the group": {func(g *rig, id string) {
			g.joins(candidate(id), 6, record.Candidacy{Eligible: true, Spread: true})
		}, ttl + heartbeat},
	} {
		g := spreads(t, 6)
		began := g.now.Observer
		g.joins(candidate("b"), 6, record.Candidacy{Eligible: true, Spread: true})
		for i := 0; i < 20 && len(g.asked()) == 0; i++ {
			g.run(heartbeat/2, nil)
			c.comes(g, fmt.Sprintf("x%d", i))
		}
		took := g.now.Observer.Sub(began)
		if len(g.asked()) == 0 || took > c.most+heartbeat/2 || took < 2*heartbeat {
			t.Errorf("%s: asked %v, after %v, want about %v", name, g.asked(), took, c.most)
		}
	}
}

// TestFullWithManyRoles: a process that may lead half of what it takes part in leads that many.
// When it gives one away it claims another one.
func TestFullWithManyRoles(t *testing.T) {
	const roles, most = 4000, 2000
	b, cfg, now := &bucket{}, testConfig("a"), at(0)
	cfg.MaxRoles = most
	m := New(cfg)
	out := m.Step(now, WatchReset{}, nil)
	for i := range roles {
		out = m.Step(now, Join{RoleConfig{Name: fmt.Sprintf("r%d", i)}}, out)
	}
	b.settle(m, now, m.Step(now, SnapshotDone{}, out))
	if m.leading != most || !m.spread.turned {
		t.Fatalf("leads %d roles, want %d", m.leading, most)
	}
	gives := m.active.list[0]
	b.settle(m, now, m.Step(now, StepDown{ID: 1, Role: gives.Name}, nil))
	if gives.term != nil {
		b.settle(m, now, m.Step(now, Drained{Role: gives.Name, Term: gives.term.id}, nil))
	}
	if m.leading != most || m.active.has(gives) {
		t.Errorf("leads %d roles after it gave %s away, want %d", m.leading, gives.Name, most)
	}
}

// TestMovedRoleRestsInTheNextTerm: a role that was moved to us does not move again within our TTL,
// also when our session is lost meanwhile, and the next one claims the role again.
func TestMovedRoleRestsInTheNextTerm(t *testing.T) {
	g := newRig(t, nil)
	b, roles := candidate("b"), []string{"r0", "r1"}
	g.joins(b, len(roles), record.Candidacy{Eligible: true, Spread: true})
	for _, role := range roles {
		g.sees(record.RoleKey(role), record.Role{
			V: 1, ID: "b", Session: g.m.View().Peer(b).Session(), TTLms: 120_000, Token: role,
		})
		g.step(Join{RoleConfig{Name: role, Spread: true}})
	}
	g.run(3*time.Second, nil)
	for _, role := range roles {
		g.sees(record.RoleKey(role), record.Role{
			V: 1, Vacant: true, By: "b", Reason: Balanced.String(), Next: "a", TTLms: 120_000,
		})
	}
	moved := g.now.Observer
	g.run(time.Second, nil)
	terms := []BeginTerm{g.begin("r0"), g.begin("r1")}
	g.effs = nil
	g.joins(b, len(roles), record.Candidacy{Spread: true}) // it takes neither for now
	g.sees(leaseKey, record.Lease{
		V: 1, Session: g.m.lease.number, Nonce: g.m.lease.nonce, State: record.Killed, By: "c",
	})
	for _, term := range terms {
		g.step(Drained{Role: term.Role, Term: term.Epoch})
	}
	g.run(time.Second, nil)
	if g.begin("r0").Session != g.m.lease.number || g.m.leading != len(roles) {
		t.Fatalf("leads %d roles in the next session", g.m.leading)
	}
	g.joins(b, len(roles), record.Candidacy{Eligible: true, Spread: true})
	g.run(moved.Add(g.m.cfg.TTL).Sub(g.now.Observer)-100*time.Millisecond, nil)
	if early := g.asked(); len(early) > 0 {
		t.Errorf("asked %v, %v after the role was moved", early, g.now.Observer.Sub(moved))
	}
	if g.run(3*time.Second, nil); len(g.asked()) != 1 {
		t.Errorf("asked %v, want one", g.asked())
	}
}

// TestPromiseLastsWhileTheWorkDrains: work takes longer to return than a promise lasts. The member
// that has agreed to take the role is asked again until then, and holds its room.
func TestPromiseLastsWhileTheWorkDrains(t *testing.T) {
	g, role, term := agreesToMove(t, 2)
	g.effs = nil
	g.run(3*g.m.cfg.OpTimeout+time.Millisecond, nil)
	again := g.asked()
	for _, a := range again {
		if a.Instance != "b" || a.Request.Role != role || !a.Request.Balance {
			t.Errorf("asked %+v", a)
		}
		g.step(Answered{Role: role, Target: "b"})
	}
	if len(again) != 3 {
		t.Errorf("asked again %d times while the work drained, want 3", len(again))
	}
	g.run(g.m.cfg.Drain, nil)
	g.effs = nil
	g.run(4*g.m.cfg.OpTimeout, nil)
	if again := g.asked(); len(again) > 0 {
		t.Errorf("asked %v although the work is stuck", again)
	}
	g.step(Drained{Role: role, Term: term})
	g.run(100*time.Millisecond, nil)
	if rv := g.m.View().Role(role); !rv.Role.Vacant || rv.Role.Next != "b" {
		t.Errorf("it is not given to b: %+v", rv.Role)
	}
}

// TestPromiseLastsInOneSession: the member that has agreed to take a role comes back in another
// session while the work drains. That one has agreed to nothing, and is not asked again.
func TestPromiseLastsInOneSession(t *testing.T) {
	g, _, _ := agreesToMove(t, 2)
	b := candidate("b")
	g.sees(record.LeaseKey(b), record.Lease{V: 1, Session: g.m.view.Peer(b).Session(), State: record.Killed, By: "c"})
	g.joins(b, 2, record.Candidacy{Eligible: true, Spread: true})
	g.effs = nil
	g.run(3*g.m.cfg.OpTimeout+time.Millisecond, nil)
	if again := g.asked(); len(again) > 0 {
		t.Errorf("asked %v in a later session", again)
	}
}

// TestPromiseIsRenewed: a member that may lead one role is asked for it again, and holds its room
// from then on. Nobody asks any more, and the room is there for another one.
func TestPromiseIsRenewed(t *testing.T) {
	g := newRig(t, func(c *Config) { c.MaxRoles = 1 })
	b := candidate("b")
	g.joins(b, 2, record.Candidacy{Eligible: true})
	session := g.m.view.Peer(b).Session()
	for _, role := range []string{"r0", "r1"} {
		g.sees(record.RoleKey(role), record.Role{V: 1, ID: "b", Session: session, Token: "t", TTLms: 120_000})
		g.step(Join{RoleConfig{Name: role}})
	}
	g.run(time.Second, nil)
	takes := func(id CommandID, role string) bool {
		g.effs = nil
		g.step(Asked{ID: id, Request: Request{ID: "x", Op: OpReady, Role: role}})
		g.run(100*time.Millisecond, nil)
		for _, e := range g.effs {
			if done, ok := e.(Done); ok && done.ID == id {
				return done.Err == nil
			}
		}
		t.Fatalf("no answer for %s", role)
		return false
	}
	if !takes(1, "r0") {
		t.Fatal("it does not take the first role")
	}
	g.run(3*g.m.cfg.OpTimeout/2, nil)
	if !takes(2, "r0") {
		t.Error("it no longer takes the role that it has promised to take")
	}
	g.run(3*g.m.cfg.OpTimeout/2, nil)
	if takes(3, "r1") {
		t.Error("it takes another role in place of the promised one")
	}
	g.run(g.m.cfg.OpTimeout, nil)
	if !takes(4, "r1") {
		t.Error("a promise that nobody has asked for again never ends")
	}
}
