package natsrun

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// routesWithin is how long an unhindered route may take. A server dials again about a second after
// it has failed.
const routesWithin = time.Minute

// pairOfServers are two servers that only take routes: they need not wait for leaders.
func pairOfServers(t *testing.T) *Cluster {
	t.Helper()
	c, err := StartCluster(ClusterOptions{
		Dir: t.TempDir(), Size: 2,
		Configure: func(_ int, so *server.Options) { so.JetStream = false },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	awaitRoutes(t, c, 1)
	return c
}

// awaitRoutes waits until each server has n routes.
func awaitRoutes(t *testing.T, c *Cluster, n int) {
	t.Helper()
	for deadline := time.Now().Add(routesWithin); !eachHas(c, n); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("not each server has %d routes: %s", n, routesOf(c))
		}
	}
}

// keepRoutes checks that each server keeps n routes while the failed ones are dialed again, twice.
func keepRoutes(t *testing.T, c *Cluster, n int) {
	t.Helper()
	for until := time.Now().Add(2500 * time.Millisecond); time.Now().Before(until); time.Sleep(poll) {
		if !eachHas(c, n) {
			t.Fatalf("not each server keeps having %d routes: %s", n, routesOf(c))
		}
	}
}

func eachHas(c *Cluster, n int) bool {
	for _, srv := range c.up() {
		if srv.NumRoutes() != n {
			return false
		}
	}
	return true
}

func routesOf(c *Cluster) (seen string) {
	for _, srv := range c.up() {
		seen += fmt.Sprintf("%s has %d; ", srv.Name(), srv.NumRoutes())
	}
	return seen
}

// TestRoutesStayCut: a cut between two servers lasts until the test heals it, even when one of them
// goes down and comes back, and when a partition ends.
func TestRoutesStayCut(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(*testing.T, *Cluster){
		"partition": func(t *testing.T, c *Cluster) {
			if err := c.Partition([]int{0}); err != nil {
				t.Fatal(err)
			}
			c.HealPartition()
		},
		"stop": func(t *testing.T, c *Cluster) { c.Stop(0); restart(t, c, 0) },
		"kill": func(t *testing.T, c *Cluster) { c.Kill(0); restart(t, c, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := pairOfServers(t)
			ways := []*Proxy{c.Route(0, 1), c.Route(1, 0)}
			for _, way := range ways {
				way.Cut()
				way.Reset() // only pings notice the cut
			}
			awaitRoutes(t, c, 0)
			disturb(t, c)
			keepRoutes(t, c, 0)
			for _, way := range ways {
				way.Heal()
			}
			awaitRoutes(t, c, 1)
		})
	}
}

func restart(t *testing.T, c *Cluster, i int) {
	t.Helper()
	if err := c.Restart(i); err != nil {
		t.Fatal(err)
	}
}

// TestHealLeavesPartition: healing routes does not join servers that must stay apart.
func TestHealLeavesPartition(t *testing.T) {
	t.Parallel()
	c := pairOfServers(t)
	if err := c.Partition([]int{0}); err != nil {
		t.Fatal(err)
	}
	for _, way := range []*Proxy{c.Route(0, 1), c.Route(1, 0)} {
		way.Heal()
		way.Reset()
	}
	awaitRoutes(t, c, 0)
	keepRoutes(t, c, 0)
	c.HealPartition()
	awaitRoutes(t, c, 1)
}
