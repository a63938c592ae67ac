//go:build realtime

package live_test

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// gateways are the ways between two clusters.
type gateways struct {
	s    *natsrun.Supercluster
	a, b int
}

func (g gateways) Cut()                  { g.s.Cut(g.a, g.b) }
func (g gateways) Delay(d time.Duration) { g.s.Delay(g.a, g.b, d) }
func (g gateways) Heal()                 { g.s.Heal(g.a, g.b) }

// TestRealtimeSuperclusterCut: processes in each cluster of a supercluster contend for one role,
// whose bucket is in one of them. The way between two clusters is cut, delayed, and healed. No two
// terms are valid at once (E1), a process that reaches the bucket leads, and every process has its
// session again when the way is there.
func TestRealtimeSuperclusterCut(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	s := natstest.Supercluster(t, natsrun.SuperclusterOptions{Clusters: []natsrun.ClusterSize{
		{Name: "east", Size: 3}, {Name: "west", Size: 1}, {Name: "south", Size: 1},
	}})
	east := natstest.Connect(t, s.Cluster(0))
	if _, err := natskv.Create(t.Context(), east, natskv.Config{Bucket: bucketAcross, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	playAcross(t, site{name: "east", network: s.Cluster(0)},
		site{name: "west", network: s.Cluster(1), way: gateways{s, 0, 1}},
		site{name: "south", network: s.Cluster(2), way: gateways{s, 0, 2}})
}

// TestRealtimeLeafCut: the same with processes at a hub, whose domain keeps the bucket, on a leaf
// node with a JetStream of its own, and on one without. The link of a leaf node is cut.
func TestRealtimeLeafCut(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	h := natstest.Hub(t, natsrun.HubOptions{
		Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}, {Name: "relay", NoJetStream: true}},
	})
	reach, err := natskv.NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	cfg := natskv.Config{Bucket: bucketAcross, Reach: reach}
	if _, err := natskv.Create(t.Context(), natstest.Connect(t, h), cfg); err != nil {
		t.Fatal(err)
	}
	playAcross(t, site{name: "hub", network: h.Server, domain: "hub"},
		site{"site", h.Leaf(0), "hub", h.Leaf(0).Uplink}, site{"relay", h.Leaf(1), "hub", h.Leaf(1).Uplink})
}

// TestRealtimeSuperclusterMove: a bucket moves to another cluster while it is used, and back at
// once. It is the same bucket, the session keeps its term, new ones open, and epochs increase.
func TestRealtimeSuperclusterMove(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	playEach(t, "a bucket moved to another cluster and back while it was used", moveAcross)
}

func moveAcross(t *testing.T, _ int, all *counts) {
	s := natstest.Supercluster(t, natsrun.SuperclusterOptions{Clusters: []natsrun.ClusterSize{
		{Name: "east", Size: 2}, {Name: "west", Size: 1},
	}})
	nc := natstest.Connect(t, s.Cluster(0))
	b, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucketAcross, Place: natskv.Place{Cluster: "east"}})
	if err != nil {
		t.Fatal(err)
	}
	if b.Identity().Cluster != "east" {
		t.Fatalf("it is in %v", b.Identity())
	}
	a := acrossSites(t, site{name: "east", network: s.Cluster(0)})
	term := a.led("the process leads", func(leading) bool { return true })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, to := range []string{"west", "east"} {
		moved, err := (natskv.Reach{}).Owner(nc, bucketAcross).Move(ctx, natskv.Place{Cluster: to})
		if err != nil || moved.Cluster != to || moved.ID != b.Identity().ID {
			t.Fatalf("to %s: moved to %v, %v", to, moved, err)
		}
		all.add(1, "moves")
	}
	if term.Valid() {
		all.add(1, "terms that lasted through both")
	}
	a.join(site{name: "west", network: s.Cluster(1)})
	if after := a.handTo("west"); after.Epoch() <= term.Epoch() {
		t.Errorf("E2: epoch %d after %d", after.Epoch(), term.Epoch())
	}
	all.add(a.both, "violations")
}
