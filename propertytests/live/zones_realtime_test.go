//go:build realtime

package live_test

import (
	"context"
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
	playEach(t, zonesPlayed, func(t *testing.T, _ int, all *counts) { zonesAcross(t, superclusterZones(t), all) })
}

// TestRealtimeZonesStretched: the same where the zones are the sites of one cluster, each with a
// server and a replica of the bucket, and everything between two of them takes a while. The zone
// that is cut off has a minority of the replicas.
func TestRealtimeZonesStretched(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	playEach(t, zonesPlayed, func(t *testing.T, _ int, all *counts) { zonesAcross(t, stretchedZones(t), all) })
}

const zonesPlayed = "a zone cut off, back and drained"

// superclusterZones are a cluster for each zone. The bucket is in the first.
func superclusterZones(t *testing.T) [3]site {
	s := natstest.Supercluster(t, natsrun.SuperclusterOptions{Clusters: []natsrun.ClusterSize{
		{Name: "east", Size: 1}, {Name: "west", Size: 1}, {Name: "south", Size: 1},
	}})
	cfg := natskv.Config{Bucket: bucketAcross, Place: natskv.Place{Cluster: "east"}}
	if _, err := natskv.Create(t.Context(), natstest.Connect(t, s.Cluster(0)), cfg); err != nil {
		t.Fatal(err)
	}
	return [3]site{
		{name: "east", network: s.Cluster(0)},
		{name: "west", network: s.Cluster(1), way: gateways{s, 0, 1}},
		{name: "south", network: s.Cluster(2), way: gateways{s, 0, 2}},
	}
}

// between is how long everything takes from one site of a stretched cluster to another, one way.
const between = 10 * time.Millisecond

// stretchedZones are a server of one cluster for each zone. The first leads the bucket.
func stretchedZones(t *testing.T) (zones [3]site) {
	c := natstest.Cluster(t)
	c.Stretch(between)
	nc := natstest.Connect(t, c.Server(0))
	if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucketAcross, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for at, ok := c.LeaderOf("KV_" + bucketAcross); !ok || at != 0; at, ok = c.LeaderOf("KV_" + bucketAcross) {
		if err := c.WaitStream(ctx, "KV_"+bucketAcross); err != nil {
			t.Fatal(err)
		}
		if at, ok := c.LeaderOf("KV_" + bucketAcross); ok && at != 0 {
			_, _, _ = c.MoveLeader(ctx, "KV_"+bucketAcross) // tried again
		}
	}
	for i, name := range []string{"east", "west", "south"} {
		zones[i] = site{name: name, network: c.Server(i), way: stretch{c, i}}
	}
	return zones
}

// stretch is the way from a server of a stretched cluster to the others.
type stretch struct {
	c  *natsrun.Cluster
	at int
}

func (s stretch) Cut()                  { _ = s.c.Partition([]int{s.at}) } // there is that server
func (s stretch) Delay(d time.Duration) { s.c.Stretch(d) }
func (s stretch) Heal() {
	s.c.HealPartition()
	s.c.Stretch(between)
}

// zonesAcross plays a cycle at three sites: east, which has the bucket, west and south.
func zonesAcross(t *testing.T, sites [3]site, all *counts) {
	const after = 3500 * time.Millisecond // longer than a fail-over takes
	way, opened := sites[1].way, time.Now()
	a := acrossZones(t, election.RoleConfig{Zones: []string{"west", "south"}, FailBackAfter: after}, sites[:]...)
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
