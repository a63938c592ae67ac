package protocol

import (
	"fmt"
	"math/rand/v2"
	"reflect"
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
	for next, most := range map[string]int{"": 45, "p1": 3} {
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
