package natsrun

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"
)

// TestForeignServerIsNoMember: the port of a server that was down has been given to a server of
// another cluster, and its own cluster is led there. The clusters stay apart, and find their own
// servers again.
func TestForeignServerIsNoMember(t *testing.T) {
	t.Parallel()
	c, other := pairOfServers(t), pairOfServers(t)
	dials := func() (least int) {
		return min(c.Route(0, 1).Stats().Dials, c.Route(1, 0).Stats().Dials)
	}
	before := dials()
	for i := range c.Size() {
		for j := range c.Size() {
			if i != j {
				c.Route(i, j).Retarget(other.Server(j).Running().ClusterAddr().String())
				c.Route(i, j).Reset()
			}
		}
	}
	for deadline := time.Now().Add(routesWithin); dials() < before+2; time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("%d dials have become %d: not each server has dialed the others", before, dials())
		}
		if !eachHas(other, 1) {
			t.Fatalf("a cluster has taken in somebody else's server: %s", routesOf(other))
		}
	}
	awaitRoutes(t, c, 0)
	for i := range c.Size() {
		c.open(i)
	}
	awaitRoutes(t, c, 1)
	awaitRoutes(t, other, 1)
}

// TestKilledServerHasNoDoor: when a server was killed, nobody is led to the ports where it took
// routes or clients. When it is back, they are led to its new ports. Clients are told of no other
// path.
func TestKilledServerHasNoDoor(t *testing.T) {
	c, err := StartProcessCluster([]string{os.Args[0]}, ClusterOptions{Dir: t.TempDir(), Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Kill(1); err != nil {
		t.Fatal(err)
	}
	ways := []*Proxy{c.doors[1], c.nodes[1].front}
	for _, way := range ways {
		if conn, err := way.Dial("tcp", ""); !errors.Is(err, ErrDown) {
			t.Errorf("dialed %v, %v, want %v", conn, err, ErrDown)
		}
	}
	if err := c.Restart(1); err != nil {
		t.Fatal(err)
	}
	for _, way := range ways {
		conn, err := way.Dial("tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close() // nothing was said
	}
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, url := range nc.Servers() {
		if !slices.Contains(c.urls, url) {
			t.Errorf("a client knows %s, which is not of %v", url, c.urls)
		}
	}
}

// TestClusterName: clusters have different names, and one that comes back on the same files has the
// same name.
func TestClusterName(t *testing.T) {
	dir := t.TempDir()
	if name := clusterName(dir); name != clusterName(dir) || name == clusterName(t.TempDir()) {
		t.Errorf("%s is not the name of one cluster", name)
	}
	t.Chdir(dir)
	if a, b := clusterName("."), clusterName(dir); a != b {
		t.Errorf("the same directory makes %s and %s", a, b)
	}
}
