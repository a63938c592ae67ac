package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// TestFormerRolesAreForgotten: when the record of a role is removed, the name is forgotten as soon
// as nobody can lead it by that record any more; not before, and not while somebody takes part in
// it.
func TestFormerRolesAreForgotten(t *testing.T) {
	g := newRig(t, nil)
	remove := func(role string) {
		g.rev++
		g.step(Delivered{&record.Entry{Kind: record.KindRole, Name: role, Revision: g.rev, Form: record.FormMarker}})
	}
	const names = 1000
	for i := range names {
		name := fmt.Sprint("former.", i)
		g.sees("c.role."+name, record.Role{V: 1, Vacant: true, By: "b", TTLms: 6000})
		remove(name)
	}
	g.step(Join{RoleConfig{Name: "ours"}})
	g.run(time.Second, nil)
	remove("ours")
	g.run(g.m.cfg.MaxTTL-2*time.Second, nil)
	if n := len(g.m.View().Roles()); n != names+1 {
		t.Errorf("%d roles are known before the longest lease time is over, want %d", n, names+1)
	}
	g.run(3*time.Second, nil)
	if all := g.m.View().Roles(); len(all) != 1 || all[0].Name != "ours" || g.m.View().Role("former.7") != nil {
		t.Errorf("%d roles are known, want ours alone", len(all))
	}
	if g.m.part("ours").term == nil {
		t.Error("our own role was not claimed again")
	}
}

// TestVacanciesExpire: a vacant role leaves the bucket after a day, a held one never.
func TestVacanciesExpire(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(time.Second, nil)
	g.step(Leave{ID: 1, Role: "r", Vacate: true})
	g.run(time.Second, nil)
	g.step(Drained{Role: "r", Term: g.m.View().Role("r").Revision})
	var ttls []time.Duration
	for _, e := range g.effs {
		if w, ok := e.(Write); ok && w.Key == record.RoleKey("r") {
			ttls = append(ttls, w.TTL)
		}
	}
	if len(ttls) != 2 || ttls[0] != 0 || ttls[1] != VacancyTTL {
		t.Errorf("the claim and the vacancy have the TTLs %v", ttls)
	}
}

// TestRemovedRole: a role whose removal says that nobody led it is claimed at once, also when the
// marker of the removal has left since. After a deletion that says nothing the lease time is waited
// for.
func TestRemovedRole(t *testing.T) {
	vacancy := record.Role{V: 1, Vacant: true, By: "b", TTLms: 6000}
	forced, held := vacancy, record.Role{V: 1, ID: "b", Session: 7, TTLms: 6000}
	forced.Forced = true
	for name, c := range map[string]struct {
		value []byte
		left  time.Duration // when its marker has left, 0: it has not
		wait  time.Duration
	}{
		"removed":                            {value: record.Encode(vacancy)},
		"removed, and its marker left early": {value: record.Encode(vacancy), left: 3 * time.Second},
		"removed, and its name is forgotten": {value: record.Encode(vacancy), left: time.Minute},
		"deleted":                            {wait: 6 * time.Second},
		"deleted, with a forced one":         {value: record.Encode(forced), wait: 6 * time.Second},
		"deleted, with a held one":           {value: record.Encode(held), wait: 6 * time.Second},
		"deleted, with some bytes":           {value: []byte("x"), wait: 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.sees("c.role.r", vacancy)
			g.rev++
			e := record.Decode("c.role.r", c.value, g.rev, true, g.m.cfg.MaxTTL)
			g.step(Delivered{&e})
			if c.left > 0 {
				g.run(c.left, nil)
				g.step(WatchReset{Told: true, Known: g.rev, Last: g.rev + 1})
				g.sees("c.lease.c", record.Lease{V: 1, State: record.Killed})
				g.step(SnapshotDone{})
			}
			g.step(Join{RoleConfig{Name: "r"}})
			g.run(c.wait-200*time.Millisecond, nil)
			if g.m.part("r").term != nil && c.wait > 0 {
				t.Fatal("claimed before the lease time was over")
			}
			g.run(500*time.Millisecond, nil)
			if g.m.part("r").term == nil {
				t.Error("not claimed")
			}
		})
	}
}

// TestWantedVacanciesAreKept: a process that wants a role and cannot lead it writes the vacancy
// again long before it expires, as one in order, and tells nothing new by that.
func TestWantedVacanciesAreKept(t *testing.T) {
	for _, forced := range []bool{false, true} {
		g := newRig(t, func(c *Config) { c.Vacancy = 40 * time.Minute })
		g.sees("c.lease.b", record.Lease{V: 1, Session: 5, Nonce: "b", TTLms: 6000, State: record.Live})
		g.sees("c.role.r", record.Role{V: 1, ID: "b", Session: 5, TTLms: 6000})
		g.step(Join{RoleConfig{Name: "r"}})
		g.step(Pause{ID: 1, Role: "r"})
		vacancy := record.Role{V: 1, Vacant: true, By: "b", Reason: "given up", Next: "c", TTLms: 6000, Forced: forced}
		g.sees("c.role.r", vacancy)
		g.sees("c.role.foreign", vacancy)
		g.effs = nil
		for i := range 20 {
			g.run(g.m.cfg.Vacancy/20, nil)
			if i == 2 {
				if n := len(g.writes("c.role.r")); n != 0 {
					t.Errorf("written %d times within a ninth of its time", n)
				}
			}
		}
		all := g.writes("c.role.r")
		if n := len(all); n < 4 || n > 8 {
			t.Errorf("written %d times within its time", n)
		}
		for _, w := range all {
			r, err := record.DecodeRole(w.Value, g.m.cfg.MaxTTL)
			if err != nil || r.By != "b" || r.Reason != "given up" || r.Next != "" || r.Forced || w.TTL != g.m.cfg.Vacancy {
				t.Errorf("%s, for %v: %v", w.Value, w.TTL, err)
			}
		}
		if n := len(g.writes("c.role.foreign")); n > 0 {
			t.Errorf("a role that it does not want was written %d times", n)
		}
		for _, e := range g.effs {
			if v, ok := e.(view.RoleVacant); ok && v.Role == "r" {
				t.Errorf("told again: %+v", v)
			}
		}
	}
}

// TestForcedVacancyIsWaitedFor: it is not written as one in order before all have waited for it.
func TestForcedVacancyIsWaitedFor(t *testing.T) {
	g := newRig(t, func(c *Config) { c.Vacancy = 16 * time.Second }) // so one in order is due after 2 to 4 s
	g.sees("c.lease.b", record.Lease{V: 1, Session: 5, Nonce: "b", TTLms: 6000, State: record.Live})
	g.sees("c.role.r", record.Role{V: 1, ID: "b", Session: 5, TTLms: 6000})
	g.step(Join{RoleConfig{Name: "r"}})
	g.step(Pause{ID: 1, Role: "r"})
	g.sees("c.role.r", record.Role{V: 1, Vacant: true, By: "b", TTLms: 6000, Forced: true})
	g.run(5900*time.Millisecond, nil)
	if n := len(g.writes("c.role.r")); n > 0 {
		t.Errorf("written %d times before the lease time was over", n)
	}
	g.run(2*time.Second, nil)
	if n := len(g.writes("c.role.r")); n != 1 {
		t.Errorf("written %d times after that", n)
	}
}

func (g *rig) writes(key string) (all []Write) {
	for _, e := range g.effs {
		if w, ok := e.(Write); ok && w.Key == key {
			all = append(all, w)
		}
	}
	return all
}
