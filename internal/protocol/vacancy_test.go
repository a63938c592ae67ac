package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
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
	if len(ttls) != 2 || ttls[0] != 0 || ttls[1] != vacancyTTL {
		t.Errorf("the claim and the vacancy have the TTLs %v", ttls)
	}
}
