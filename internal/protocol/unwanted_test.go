package protocol

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// giveAway makes the rig lead a role and give it up.
func (g *rig) giveAway(role string) {
	g.step(Join{RoleConfig{Name: role}})
	g.run(time.Second, nil)
	term := g.m.View().Role(role).Revision
	g.step(Leave{ID: 1, Role: role, Vacate: true})
	g.run(time.Second, nil)
	g.effs = nil
	g.step(Drained{Role: role, Term: term})
	g.run(10*time.Millisecond, nil)
}

// seesMember shows a live candidate that takes part in a role.
func (g *rig) seesMember(id, role string) {
	g.sees("c.lease."+id, record.Lease{V: 1, Session: 5, Nonce: id, TTLms: 120_000, State: record.Live})
	g.sees("c.member."+id, record.Member{V: 1, Session: 5, Roles: record.CandidaciesOf(map[string]record.Candidacy{
		role: {},
	})})
}

// TestUnwantedRoleIsRemoved: a role that nobody wants leaves at once when many are vacant already.
// Every other vacancy stays: beside few others, when a member takes part in the role, also one that
// is not eligible, and when it was taken by force.
func TestUnwantedRoleIsRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		vacant  int
		wanted  bool
		forced  bool
		removed bool
	}{
		"many are vacant":                 {vacant: 3, removed: true},
		"many are vacant, and one wants":  {vacant: 3, wanted: true},
		"few are vacant":                  {vacant: 2},
		"many are vacant, taken by force": {vacant: 3, forced: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, func(c *Config) { c.Vacancies = 3 })
			for i := range 2 * c.vacant { // the second time each is written again
				i /= 2
				g.sees(fmt.Sprint("c.role.former.", i), record.Role{V: 1, Vacant: true, By: "b", TTLms: 6000})
			}
			if c.wanted {
				g.seesMember("b", "r")
			}
			if c.forced { // a record over which nobody may claim without a wait
				g.step(Join{RoleConfig{Name: "r"}})
				g.run(time.Second, nil)
				held, term := g.m.View().Role("r").Role, g.m.View().Role("r").Revision
				held.Token = "of somebody else"
				g.step(Leave{ID: 1, Role: "r", Vacate: true})
				g.sees("c.role.r", held)
				g.run(time.Second, nil)
				g.step(Drained{Role: "r", Term: term})
				g.run(time.Second, nil)
			} else {
				g.giveAway("r")
			}
			all := g.writes("c.role.r")
			if len(all) == 0 {
				t.Fatal("nothing was written")
			}
			w := all[len(all)-1]
			rec, err := record.DecodeRole(w.Value, g.m.cfg.MaxTTL)
			if err != nil || !rec.Vacant || rec.Forced != c.forced {
				t.Fatalf("%s: %v", w.Value, err)
			}
			ttl := VacancyTTL
			if c.removed {
				ttl = g.m.cfg.TTL
			}
			if w.Delete != c.removed || w.TTL != ttl {
				t.Errorf("deleted %t, for %v; want %t, for %v", w.Delete, w.TTL, c.removed, ttl)
			}
			told := 0
			for _, e := range g.effs {
				if v, ok := e.(view.RoleVacant); ok && v.Role == "r" && v.By == "a" {
					told++
				}
			}
			if told != 1 {
				t.Errorf("told %d times that it is vacant", told)
			}
			if !c.removed {
				return
			}
			g.run(5*time.Second, nil)
			if g.m.View().Role("r") == nil {
				t.Error("the name is forgotten while its marker is there")
			}
			g.run(3*time.Second, nil)
			if g.m.View().Role("r") != nil {
				t.Error("the name is not forgotten")
			}
		})
	}
}

// TestRemovedRoleIsClaimedOverNothing: when the marker of a removal has left, a claim expects that
// the key is absent.
func TestRemovedRoleIsClaimedOverNothing(t *testing.T) {
	const ttl = 6 * time.Second
	for after, stands := range map[time.Duration]bool{time.Second: true, ttl + time.Second: false} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			g := newRig(t, nil)
			g.sees("c.lease.b", record.Lease{V: 1, Session: 5, Nonce: "b", TTLms: 120_000, State: record.Live})
			g.sees("c.role.r", record.Role{V: 1, ID: "b", Session: 5, TTLms: 6000})
			g.step(Join{RoleConfig{Name: "r"}})
			g.step(Pause{ID: 1, Role: "r"})
			g.rev++
			vacancy := record.Encode(record.Role{V: 1, Vacant: true, By: "b", TTLms: ttl.Milliseconds()})
			e := record.Decode("c.role.r", vacancy, g.rev, true, g.m.cfg.MaxTTL)
			g.step(Delivered{&e})
			g.run(after, nil)
			g.effs = nil
			g.step(Resume{ID: 2, Role: "r"})
			g.run(time.Second, nil)
			expect := uint64(0)
			if stands {
				expect = e.Revision
			}
			if all := g.writes("c.role.r"); len(all) != 1 || all[0].Expect != expect {
				t.Errorf("claims %+v, want one that expects %d", all, expect)
			}
		})
	}
}

// TestOpenClaimOutlastsAMarker: a claim over a marker that may have been stored stays what it is
// when that marker has left.
func TestOpenClaimOutlastsAMarker(t *testing.T) {
	g := newRig(t, nil)
	g.rev++
	vacancy := record.Encode(record.Role{V: 1, Vacant: true, By: "b", TTLms: 2000})
	e := record.Decode("c.role.r", vacancy, g.rev, true, g.m.cfg.MaxTTL)
	g.step(Delivered{&e})
	g.mute = true
	g.step(Join{RoleConfig{Name: "r"}})
	for range 8 {
		g.run(time.Second, nil)
		pend := g.pend
		g.pend = nil
		for _, w := range pend {
			if w.Key == "c.role.r" {
				g.step(Written{ID: w.ID, Outcome: record.Unknown})
			} else {
				g.win(w, true)
			}
		}
	}
	all := g.writes("c.role.r")
	if len(all) < 2 {
		t.Fatalf("claimed %d times", len(all))
	}
	for _, w := range all {
		if string(w.Value) != string(all[0].Value) || w.Expect != e.Revision {
			t.Errorf("claims %s over %d after %s", w.Value, w.Expect, all[0].Value)
		}
	}
}

// TestRolesOfTheDeadAreGivenUp: a role that is held by a dead session, and that nobody wants, is
// given up in the name of its leader, after the longest lease time. Not while its session lives,
// and not when somebody wants it.
func TestRolesOfTheDeadAreGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		dead, wanted, many bool
		written            int
	}{
		"dead":                        {dead: true, written: 1},
		"dead, many are vacant":       {dead: true, many: true, written: 1},
		"dead, and somebody wants it": {dead: true, wanted: true},
		"alive":                       {},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, func(c2 *Config) {
				if c.many {
					c2.Vacancies = -1
				}
			})
			g.sees("c.role.r", record.Role{V: 1, ID: "b", Session: 7, Token: "b", TTLms: 6000})
			if c.wanted {
				g.seesMember("c", "r")
			}
			if c.dead {
				g.sees("c.lease.b", record.Lease{V: 1, Session: 7, Nonce: "b", State: record.Killed})
			}
			step := func(d time.Duration) {
				for range d / (2 * time.Second) {
					if !c.dead { // it beats
						g.sees("c.lease.b", record.Lease{V: 1, Session: 7, Nonce: "b", TTLms: 6000, State: record.Live})
					}
					if c.wanted {
						g.seesMember("c", "r")
					}
					g.run(2*time.Second, nil)
				}
			}
			step(g.m.cfg.MaxTTL - 4*time.Second)
			if n := len(g.writes("c.role.r")); n > 0 {
				t.Fatalf("written %d times before the longest lease time was over", n)
			}
			step(10 * time.Second)
			all := g.writes("c.role.r")
			if len(all) != c.written {
				t.Fatalf("written %d times, want %d", len(all), c.written)
			}
			for _, w := range all {
				rec, err := record.DecodeRole(w.Value, g.m.cfg.MaxTTL)
				if err != nil || !rec.Vacant || rec.Forced || rec.By != "b" || rec.Reason != Abandoned || w.Delete != c.many {
					t.Errorf("%s, deleted %t: %v", w.Value, w.Delete, err)
				}
			}
			if sign, ok := g.m.View().LastSign(g.m.View().Role("r")); c.dead && !c.many && ok {
				t.Errorf("a sign of the dead leader at %v", sign)
			}
		})
	}
}

// TestRolesOfTheDeadAreLeftToOthers: a process whose user may not write the key of such a role
// tries that once, and lives on.
func TestRolesOfTheDeadAreLeftToOthers(t *testing.T) {
	g := newRig(t, nil)
	g.sees("c.lease.b", record.Lease{V: 1, Session: 7, Nonce: "b", State: record.Killed})
	for _, role := range []string{"r", "s"} {
		g.sees("c.role."+role, record.Role{V: 1, ID: "b", Session: 7, Token: "b", TTLms: 6000})
	}
	tried := 0
	g.mute = true
	for range 600 {
		g.run(time.Second, nil)
		for _, w := range g.pend {
			if w.Key == "c.role.r" || w.Key == "c.role.s" {
				tried++
				g.step(Written{ID: w.ID, Outcome: record.Unknown, Fault: errors.New("denied"), Denied: true})
			} else {
				g.win(w, true)
			}
		}
		g.pend = nil
	}
	if tried == 0 || tried > 2 {
		t.Errorf("tried %d times, want once for each role that was due at once", tried)
	}
	if g.m.phase != open {
		t.Error("the session has ended")
	}
}
