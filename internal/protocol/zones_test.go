package protocol

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// inZone returns a rig in a zone that takes part in r.
func inZone(t *testing.T, own string, role RoleConfig) *rig {
	g := newRig(t, func(c *Config) { c.Zone = own })
	role.Name = "r"
	g.step(Join{role})
	g.run(3*time.Second, nil)
	return g
}

// TestOlderMembersDoNotTakeTiersForPriorities: an older leader hands over to a candidate that takes
// over and has a higher priority, and knows no tiers. So nobody who publishes a tier says to it
// that it takes over. A role without zones is told of as ever.
func TestOlderMembersDoNotTakeTiersForPriorities(t *testing.T) {
	for _, zones := range [][]string{nil, {"one", "two"}, {"two"}} {
		g := inZone(t, "one", RoleConfig{Priority: 3, Takeover: true, Zones: zones})
		said, ok := g.m.own.said.Candidacy("r")
		if !ok || !said.TakesOver() || said.Takeover != (zones == nil) || (said.Priority > 3) != (said.Tier > 0) {
			t.Errorf("zones %v: it says %+v", zones, said)
		}
	}
}

// TestZonesOnly: outside the zones of such a role nobody leads it, and says so.
func TestZonesOnly(t *testing.T) {
	for own, leads := range map[string]bool{"one": true, "two": true, "three": false, "": false} {
		g := inZone(t, own, RoleConfig{Zones: []string{"one", "two"}, ZonesOnly: true})
		said, ok := g.m.own.said.Candidacy("r")
		if g.m.leading == 1 != leads || !ok || said.Eligible != leads {
			t.Errorf("zone %q: leads %d roles, says %+v", own, g.m.leading, said)
		}
	}
}

// TestFailBackOnlyWhenAsked: without FailBackAfter a role stays where it is; with it a better tier
// gets it after that time, and not before, whatever its priority is; a worse one never.
func TestFailBackOnlyWhenAsked(t *testing.T) {
	const after = 30 * time.Second
	for name, c := range map[string]struct {
		failBack time.Duration
		tier     int32
		want     bool
	}{
		"never": {0, 2, false}, "a better tier": {after, 2, true}, "the best tier of all": {after, 3, true},
		"a worse tier": {after, 0, false}, "a drained one": {after, -1, false},
	} {
		g := inZone(t, "two", RoleConfig{Priority: 9, Zones: []string{"one", "two"}, FailBack: c.failBack})
		if g.m.leading != 1 {
			t.Fatal("does not lead")
		}
		g.joins(candidate("b"), 0, record.Candidacy{})
		m := record.Member{V: 1, Session: g.m.view.Peer(candidate("b")).Session()}
		m.Roles = record.CandidaciesOf(map[string]record.Candidacy{
			"r": {Tier: c.tier, Priority: c.tier<<20 + 100, Eligible: true, Over: true},
		})
		g.sees(record.MemberKey(candidate("b")), m)
		g.run(after-time.Second, nil)
		if early := g.asked(); len(early) > 0 {
			t.Errorf("%s: asked %v too early", name, early)
		}
		g.run(20*time.Second, nil)
		if asked := g.asked(); len(asked) > 0 != c.want {
			t.Errorf("%s: asked %v", name, asked)
		}
	}
}

// TestFailBackIsCarriedOn: who claims a role after a fail-back that did not last says so, and waits
// for twice as long before it gives the role back again.
func TestFailBackIsCarriedOn(t *testing.T) {
	g := newRig(t, func(c *Config) { c.Zone = "two" })
	b := candidate("b")
	g.joins(b, 0, record.Candidacy{})
	session := g.m.view.Peer(b).Session()
	g.sees(record.RoleKey("r"), record.Role{
		V: 1, ID: "b", Session: session, Token: "t", TTLms: 6000, FailBacks: 1, FailedBack: true,
	})
	g.step(Join{RoleConfig{Name: "r", Zones: []string{"one", "two"}, FailBack: 10 * time.Second}})
	g.run(3*time.Second, nil)
	g.sees(record.LeaseKey(b), record.Lease{V: 1, Session: session, State: record.Killed, By: "c"})
	g.run(30*time.Second, nil)
	if r := g.m.view.Role("r").Role; g.m.leading != 1 || r.FailBacks != 2 || r.FailedBack {
		t.Fatalf("leads %d roles: %+v", g.m.leading, r)
	}
	g.joins(b, 0, record.Candidacy{})
	said := record.CandidaciesOf(map[string]record.Candidacy{"r": {Tier: 2, Priority: 2 << 20, Eligible: true}})
	g.sees(record.MemberKey(b), record.Member{V: 1, Session: g.m.view.Peer(b).Session(), Roles: said})
	g.effs = nil
	g.run(39*time.Second, nil)
	if early := g.asked(); len(early) > 0 {
		t.Errorf("asked %v before 40 s", early)
	}
	g.run(20*time.Second, nil)
	if asked := g.asked(); !slices.ContainsFunc(asked, func(a Ask) bool { return a.Instance == "b" }) {
		t.Errorf("asked %v", asked)
	}
}

// told is what an operator tells about a zone or a role; the zero Steer takes it back.
func (g *rig) told(name string, s record.Steer) {
	if s == (record.Steer{}) {
		g.rev++
		g.step(Delivered{&record.Entry{Kind: record.KindSteer, Name: name, Revision: g.rev, Form: record.FormMarker}})
		return
	}
	s.V = 1
	g.sees(record.SteerKey(name), s)
}

// elsewhere has a candidate of another zone take part in r0 to rN-1.
func (g *rig) elsewhere(instance string, roles int) {
	g.joins(candidate(instance), roles, record.Candidacy{Eligible: true})
}

// TestDrainedZone: a leader in a drained zone offers its roles to candidates elsewhere, one after
// the other, and leads on if there is none.
func TestDrainedZone(t *testing.T) {
	const roles = 5
	g := newRig(t, func(c *Config) { c.Zone = "one" })
	for i := range roles {
		g.step(Join{RoleConfig{Name: fmt.Sprintf("r%d", i)}})
	}
	g.run(10*time.Second, nil)
	g.told("zone.two", record.Steer{Drained: true})
	g.elsewhere("b", roles)
	g.run(10*time.Second, nil)
	if asked := g.asked(); len(asked) > 0 || g.m.leading != roles {
		t.Fatalf("leads %d roles, asked %v though another zone is drained", g.m.leading, asked)
	}
	g.told("zone.one", record.Steer{Drained: true})
	said, _ := g.m.own.said.Candidacy("r0")
	if said.Tier != -1 || said.Priority >= 0 || !said.Eligible {
		t.Errorf("says %+v", said)
	}
	for n := 1; n <= roles; n++ {
		g.run(5*time.Second, nil)
		asked := g.asked()
		if len(asked) != n || g.m.leading != roles-n+1 {
			t.Fatalf("leads %d roles, and has asked %v: one after the other", g.m.leading, asked)
		}
		role := asked[n-1].Request.Role
		g.step(Answered{Role: role, Target: "b", OK: true})
		g.step(Drained{role, g.begin(role).Epoch})
		g.sees(record.RoleKey(role), record.Role{
			V: 1, ID: "b", Session: g.m.view.Peer(candidate("b")).Session(), Token: role, TTLms: 120_000,
		})
	}
	g.run(5*time.Second, nil)
	if g.m.leading != 0 {
		t.Errorf("leads %d roles", g.m.leading)
	}
}

// TestLooksAgainAtOneThatWouldDecline: a candidate of a better zone that leads as many roles as it
// may is offered ours when it has given another one away. Nothing else tells of that.
func TestLooksAgainAtOneThatWouldDecline(t *testing.T) {
	g := inZone(t, "two", RoleConfig{Zones: []string{"one", "two"}, FailBack: time.Second})
	b := candidate("b")
	g.joins(b, 0, record.Candidacy{})
	session := g.m.view.Peer(b).Session()
	m := record.Member{V: 1, Session: session, MaxRoles: 1}
	m.Roles = record.CandidaciesOf(map[string]record.Candidacy{"r": {Tier: 2, Priority: 2 << 20, Eligible: true}})
	g.sees(record.MemberKey(b), m)
	g.sees(record.RoleKey("x"), record.Role{V: 1, ID: "b", Session: session, Token: "x", TTLms: 120_000})
	g.run(20*time.Second, nil)
	if asked := g.asked(); len(asked) > 0 {
		t.Fatalf("asked %v, which leads as many roles as it may", asked)
	}
	g.sees(record.RoleKey("x"), record.Role{V: 1, Vacant: true, By: "b", TTLms: 120_000})
	g.run(20*time.Second, nil)
	if asked := g.asked(); !slices.ContainsFunc(asked, func(a Ask) bool { return a.Instance == "b" }) {
		t.Errorf("asked %v, though it has room", asked)
	}
}

// TestRolesOfAnEarlierSessionFillNobody: a candidate of a better zone may lead one role, and one
// that is paused names its earlier session still. It leads none, and is offered ours: also when the
// two are to be apart.
func TestRolesOfAnEarlierSessionFillNobody(t *testing.T) {
	for _, apart := range []bool{false, true} {
		role := RoleConfig{Zones: []string{"one", "two"}, FailBack: time.Second}
		if apart {
			role.Apart = []string{"x"}
		}
		g := inZone(t, "two", role)
		b := candidate("b")
		g.joins(b, 0, record.Candidacy{})
		former := g.m.view.Peer(b).Session()
		g.sees(record.RoleKey("x"), record.Role{V: 1, ID: "b", Session: former, Token: "x", TTLms: 120_000})
		g.sees(record.LeaseKey(b), record.Lease{V: 1, Session: former, State: record.Killed, By: "c"})
		g.joins(b, 0, record.Candidacy{})
		m := record.Member{V: 1, Session: g.m.view.Peer(b).Session(), MaxRoles: 1}
		if apart {
			m.MaxRoles = 0
		}
		m.Roles = record.CandidaciesOf(map[string]record.Candidacy{"r": {Tier: 2, Priority: 2 << 20, Eligible: true}})
		g.sees(record.MemberKey(b), m)
		g.run(20*time.Second, nil)
		if asked := g.asked(); !slices.ContainsFunc(asked, func(a Ask) bool { return a.Instance == "b" }) {
			t.Errorf("apart %v: asked %v, though it leads nothing", apart, asked)
		}
	}
}
