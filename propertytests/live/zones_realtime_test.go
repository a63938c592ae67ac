//go:build realtime

package live_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRealtimeZones: the clusters of a supercluster are zones, and the role is to be led in one
// that does not keep the bucket. It is given there, is cut off at once, comes back, and is drained.
// No two terms are valid at once (E1). The role is given to the better zone after FailBackAfter and
// not before, after twice that time when it has not lasted, and stays away from a drained zone.
func TestRealtimeZones(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	playEach(t, "a zone cut off, back and drained", zonesAcross)
}

func zonesAcross(t *testing.T, _ int, all *counts) {
	const after = 2500 * time.Millisecond
	s := natstest.Supercluster(t, natsrun.SuperclusterOptions{Clusters: []natsrun.ClusterSize{
		{Name: "east", Size: 1}, {Name: "west", Size: 1}, {Name: "south", Size: 1},
	}})
	nc := natstest.Connect(t, s.Cluster(0))
	cfg := natskv.Config{Bucket: bucketAcross, Place: natskv.Place{Cluster: "east"}}
	if _, err := natskv.Create(t.Context(), nc, cfg); err != nil {
		t.Fatal(err)
	}
	way, opened := gateways{s, 0, 1}, time.Now()
	a := acrossZones(t, election.RoleConfig{Zones: []string{"west", "south"}, FailBackAfter: after},
		site{name: "east", network: s.Cluster(0)}, site{name: "west", network: s.Cluster(1), way: way},
		site{name: "south", network: s.Cluster(2), way: gateways{s, 0, 2}})
	in := func(zone string, since uint64) leading {
		return a.led(zone+" leads", func(l leading) bool { return l.at == zone && l.Epoch() > since })
	}
	in("east", 0) // it was there first, and waits for a better zone
	term := in("west", 0)
	began, wait := time.Now(), after
	if took := began.Sub(opened); took < after {
		t.Errorf("E10: given to a better zone after %v, want %v at least", took, after)
	}
	way.Cut()
	away := in("south", term.Epoch())
	if time.Since(began) < after { // else the machine was too busy for it to flap
		wait = 2 * after
		all.add(1, "fail-backs that did not last")
	}
	healed := time.Now()
	way.Heal()
	term = in("west", away.Epoch())
	if took := time.Since(healed); took < wait {
		t.Errorf("E10: given back after %v, want %v at least", took, wait)
	}
	all.add(2, "fail-backs")
	if err := a.observer.DrainZone(t.Context(), "west", election.Steering{By: "ops", Reason: "power"}); err != nil {
		t.Fatal(err)
	}
	away = in("south", term.Epoch())
	if told := a.observer.Steered(); len(told) != 1 || told[0].Zone != "west" || told[0].By != "ops" {
		t.Errorf("drained: %+v", told)
	}
	over := time.NewTimer(ttlAcross)
	defer over.Stop()
	<-over.C
	if !away.Valid() {
		t.Error("south has lost the role while west is drained")
	}
	all.add(1, "drained zones")
	all.add(a.both, "violations")
}
