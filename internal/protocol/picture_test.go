package protocol

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
)

// TestAnotherLook: whatever members and roles do, a picture that is looked at again is as a new
// one.
func TestAnotherLook(t *testing.T) {
	for seed := range uint64(40) {
		g, rng := newRig(t, nil), rand.New(rand.NewPCG(seed, 1))
		looked := spread.Of(g.m.view, g.now.Observer, "", g.m.aboutToLead)
		g.step(Join{RoleConfig{Name: "r0", Spread: true}})
		for step := range 60 {
			peer, role := candidate(fmt.Sprintf("p%d", rng.IntN(4))), fmt.Sprintf("r%d", rng.IntN(6))
			switch rng.IntN(6) {
			case 0:
				g.joins(peer, rng.IntN(6), record.Candidacy{
					Eligible: rng.IntN(4) > 0, Spread: rng.IntN(4) > 0, Priority: int32(rng.IntN(2)),
				})
			case 1:
				g.sees(record.LeaseKey(peer), record.Lease{V: 1, Session: 1, State: record.Closed})
			case 2:
				if p := g.m.view.Peer(peer); p != nil {
					g.sees(record.RoleKey(role), record.Role{
						V: 1, ID: peer.Instance, Session: p.Session(), Token: "t", TTLms: 100_000,
					})
				}
			case 3:
				g.sees(record.RoleKey(role), record.Role{V: 1, Vacant: true, By: "p0", Next: peer.Instance, TTLms: 100_000})
			case 4:
				if p := g.m.view.Peer(peer); p != nil && p.Member != nil {
					m := *p.Member
					m.Draining, m.MaxRoles = rng.IntN(2) == 0, rng.IntN(3)
					m.Apart = map[string][]string{role: {"r1"}}
					g.sees(record.MemberKey(peer), m)
				}
			default:
				g.run(time.Duration(rng.IntN(3000))*time.Millisecond, nil)
			}
			looked.Look(g.m.view, g.now.Observer, g.m.aboutToLead)
			made := spread.Of(g.m.view, g.now.Observer, "", g.m.aboutToLead)
			if !same(looked.Group, made.Group) {
				t.Fatalf("seed %d, failed after %d tests, step %d: looked at again %+v, a new one %+v", seed, seed+1, step,
					looked.Group, made.Group)
			}
		}
	}
}

func same(a, b spread.Group) bool {
	if len(a.Roles)+len(b.Roles) == 0 {
		a.Roles, b.Roles = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// TestFewPlansForManyVacancies: a member closes, and gives up hundreds of roles one after the
// other, or moves them to somebody. One plan is for many of them.
func TestFewPlansForManyVacancies(t *testing.T) {
	const roles, members = 400, 8
	for next, most := range map[string]int{"": 12, "p1": 3} {
		g := newRig(t, nil)
		for i := range members - 1 {
			g.joins(candidate(fmt.Sprintf("p%d", i)), roles, record.Candidacy{Eligible: true, Spread: true})
		}
		holder := g.m.view.Peer(candidate("p0"))
		for i := range roles {
			g.sees(record.RoleKey(fmt.Sprintf("r%d", i)), record.Role{
				V: 1, ID: "p0", Session: holder.Session(), Token: "t", TTLms: 100_000,
			})
		}
		for i := range roles {
			g.step(Join{RoleConfig{Name: fmt.Sprintf("r%d", i), Spread: true}})
		}
		g.run(2*time.Second, nil)
		g.mute = true
		plans, made := 0, record.Instant(0)
		for i := range roles {
			g.now.Holder, g.now.Observer = g.now.Holder.Add(time.Millisecond), g.now.Observer.Add(time.Millisecond)
			g.sees(record.RoleKey(fmt.Sprintf("r%d", i)), record.Role{
				V: 1, Vacant: true, By: "p0", Reason: "closed", Next: next, TTLms: 100_000,
			})
			if group := g.m.spread.groups[0]; group.made != made {
				plans, made = plans+1, group.made
			}
		}
		if plans < 1 || plans > most {
			t.Errorf("given to %q: %d plans for %d vacancies within 400 ms, want %d", next, plans, roles, most)
		}
	}
}

// TestLostRolesWait: a role that was deleted, garbled or taken by force is not claimed for a while;
// one that was given up in order, or whose leader is dead, is.
func TestLostRolesWait(t *testing.T) {
	g := newRig(t, nil)
	b := candidate("b")
	g.joins(b, 5, record.Candidacy{Eligible: true, Spread: true})
	g.sees(record.RoleKey("r0"), record.Role{V: 1, Vacant: true, By: "b", TTLms: 6000})
	g.sees(record.RoleKey("r1"), record.Role{V: 1, Vacant: true, By: "b", Forced: true, TTLms: 6000})
	for i, form := range []record.Form{record.FormMarker, record.FormGarbage} {
		g.rev++
		g.step(Delivered{&record.Entry{
			Kind: record.KindRole, Name: fmt.Sprintf("r%d", 2+i), Revision: g.rev, Form: form,
		}})
	}
	g.sees(record.RoleKey("r4"), record.Role{V: 1, ID: "d", Session: 1, Token: "t", TTLms: 6000})
	g.sees(record.LeaseKey(candidate("d")), record.Lease{V: 1, Session: 1, State: record.Killed, By: "b"})
	p := spread.Of(g.m.view, g.now.Observer, "", g.m.aboutToLead)
	for i, want := range []bool{false, true, true, true, false} {
		name := fmt.Sprintf("r%d", i)
		if at, ok := p.Place(g.m.view.Role(name)); !ok || p.Roles[at].Waits != want {
			t.Errorf("%s is there: %v; it waits: %v, want %v", name, ok, ok && p.Roles[at].Waits, want)
		}
	}
}

// TestFewPlansWhileMembersJoin: processes that start together come one after the other, each with
// two records. One plan is for many of them, and each role is dealt out at last.
func TestFewPlansWhileMembersJoin(t *testing.T) {
	const roles, members = 100, 20
	g := newRig(t, nil)
	if plans := g.plansWhileJoining(roles, members); plans < 1 || plans > 6 {
		t.Errorf("%d plans while %d members came within 100 ms, want 6 at most", plans, members)
	}
	g.mute = false
	g.run(5*time.Second, nil)
	if g.m.leading < roles/members {
		t.Errorf("leads %d of %d roles beside %d members", g.m.leading, roles, members)
	}
}

// TestFewRolesAreDealtSoon: to plan a small group costs little, so its roles do not wait for one
// another.
func TestFewRolesAreDealtSoon(t *testing.T) {
	if plans := newRig(t, nil).plansWhileJoining(8, 20); plans < 8 {
		t.Errorf("%d plans within 100 ms, want one within 10 ms", plans)
	}
}

// plansWhileJoining has members come within 5 ms each when some roles are vacant, and counts the
// plans that are made meanwhile.
func (g *rig) plansWhileJoining(roles, members int) (plans int) {
	g.held(roles)
	for i := range roles {
		g.sees(record.RoleKey(fmt.Sprintf("r%d", i)), record.Role{V: 1, Vacant: true, By: "p", TTLms: 100_000})
	}
	g.mute = true
	made := record.Instant(0)
	for i := range members {
		g.now.Holder, g.now.Observer = g.now.Holder.Add(5*time.Millisecond), g.now.Observer.Add(5*time.Millisecond)
		g.joins(candidate(fmt.Sprintf("p%d", i)), roles, record.Candidacy{Eligible: true, Spread: true})
		for _, group := range g.m.spread.groups {
			if group.made != made {
				plans, made = plans+1, group.made
			}
		}
	}
	return plans
}

// held has p lead some roles that are spread, of which we take part too.
func (g *rig) held(roles int) (session uint64) {
	g.joins(candidate("p"), roles, record.Candidacy{Eligible: true, Spread: true})
	session = g.m.view.Peer(candidate("p")).Session()
	for i := range roles {
		g.sees(record.RoleKey(fmt.Sprintf("r%d", i)), record.Role{
			V: 1, ID: "p", Session: session, Token: "t", TTLms: 100_000,
		})
		g.step(Join{RoleConfig{Name: fmt.Sprintf("r%d", i), Spread: true}})
	}
	g.run(2*time.Second, nil)
	return session
}

// TestPlansDiffer: two members deal out the roles of a dead one by views that differ. Each leaves a
// role to the other one, and the other one takes what it does not leave to it. We see that, and
// deal out again, long before it is our turn behind all others.
func TestPlansDiffer(t *testing.T) {
	const roles = 8
	g := newRig(t, nil)
	b := candidate("b")
	g.joins(b, roles, record.Candidacy{Eligible: true, Spread: true})
	g.step(Join{RoleConfig{Name: "x"}}) // so that its lease is live
	former := g.held(roles)
	g.mute, g.effs = true, nil
	g.sees(record.LeaseKey(candidate("p")), record.Lease{V: 1, Session: former, State: record.Killed, By: "b"})
	g.run(20*time.Millisecond, nil)
	ours := g.claimed()
	if len(ours) < roles/2-1 {
		t.Fatalf("claims %v of %d roles", ours, roles)
	}
	g.effs = nil
	g.sees(record.RoleKey(ours[0]), record.Role{
		V: 1, ID: "b", Session: g.m.view.Peer(b).Session(), Token: "b", TTLms: 100_000,
	})
	g.run(50*time.Millisecond, nil)
	if more := g.claimed(); len(more) == 0 || slices.Contains(ours, more[0]) {
		t.Errorf("claims %v after b took %s", more, ours[0])
	}
}

// claimed is the roles that we try to claim.
func (g *rig) claimed() (names []string) {
	for _, e := range g.effs {
		if w, ok := e.(Write); ok {
			if kind, _, name := record.ParseKey(w.Key); kind == record.KindRole {
				names = append(names, name)
			}
		}
	}
	return names
}
