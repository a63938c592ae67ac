//go:build realtime

package main

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// far is by how much everything between two sites is late, one way.
const far = 10 * time.Millisecond

// TestRealtimeZoneDrain: on a supercluster, and on one cluster that is stretched over sites, a zone
// has handed its role over when "zone drain --wait" returns. It is given the role back when it is
// not drained any more. The command is run at a third site.
func TestRealtimeZoneDrain(t *testing.T) {
	for name, lab := range map[string]func(*testing.T) (p *place, a, b natstest.Network){
		"supercluster": func(t *testing.T) (*place, natstest.Network, natstest.Network) {
			s, p := supercluster(t, natsrun.ClusterSize{Name: "east", Size: 1}, natsrun.ClusterSize{Name: "west", Size: 1},
				natsrun.ClusterSize{Name: "south", Size: 1})
			s.Delay(0, 1, far)
			s.Delay(0, 2, far)
			p.ok("bucket", "create", "roles", "--cluster", "east")
			return p, s.Cluster(1), s.Cluster(2)
		},
		"stretched": func(t *testing.T) (*place, natstest.Network, natstest.Network) {
			c := natstest.Cluster(t)
			c.Stretch(far)
			p := &place{t: t, env: append(clean(t), "NATS_URL="+c.Server(0).URL())}
			p.ok("bucket", "create", "roles", "--replicas", "3")
			return p, c.Server(1), c.Server(2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits, nearly all the time
			drainAndBack(lab(t))
		})
	}
}

// drainAndBack drains the better one of two zones, and ends that.
func drainAndBack(p *place, west, south natstest.Network) {
	t := p.t
	const after = time.Second
	part := func(at natstest.Network, zone string) *election.Election {
		s := p.memberOver(natstest.Connect(t, at), zone, func(c *election.SessionConfig) {
			c.Zone, c.TTL, c.CoolDown = zone, 3*time.Second, time.Second
		})
		return contend(t, s, election.RoleConfig{Role: "r", Zones: []string{"west", "south"}, FailBackAfter: after})
	}
	a := part(west, "west")
	leads(t, a)
	b := part(south, "south")
	natstest.Eventually(t, "b is next", patience, func() (bool, string) {
		return a.Status().Successor == "south", a.Status().Successor
	})
	term := a.Token().Epoch
	p.ok("zone", "drain", "west", "--reason", "power works", "--wait", "--yes")
	if a.IsLeader() {
		t.Error("west leads when the command has returned")
	}
	leads(t, b)
	next := b.Token().Epoch
	undrained := time.Now()
	p.ok("zone", "undrain", "west")
	leads(t, a)
	if took := time.Since(undrained); took < after {
		t.Errorf("given back after %v, want %v at least", took, after)
	}
	if last := a.Token().Epoch; term >= next || next >= last {
		t.Errorf("epochs %d, %d, %d", term, next, last)
	}
}
