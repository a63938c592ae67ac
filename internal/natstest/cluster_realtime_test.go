//go:build realtime

package natstest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestClusterSurvivesKill: the stream's leader is killed, another server leads, and the killed one
// comes back and catches up.
func TestClusterSurvivesKill(t *testing.T) {
	c := natstest.Cluster(t)
	js := replicated(t, c)
	publish(t, js, 20)
	victim := leader(t, c, -1)

	began := time.Now()
	c.Kill(victim)
	publish(t, js, 1)
	t.Logf("writes continue %v after the leader was killed", time.Since(began).Round(time.Millisecond))
	if next := leader(t, c, victim); next == victim {
		t.Fatalf("n%d leads after it was killed", victim)
	}
	publish(t, js, 19)

	began = time.Now()
	if err := c.Restart(victim); err != nil {
		t.Fatal(err)
	}
	waitWhole(t, c)
	t.Logf("the killed server is current %v after its restart", time.Since(began).Round(time.Millisecond))
	expectMessages(t, js, 40)
}

// TestClusterSurvivesPartition: the leader is cut off together with its clients. Its side
// acknowledges nothing, the majority continues, and after healing all agree.
func TestClusterSurvivesPartition(t *testing.T) {
	c := natstest.Cluster(t)
	js := replicated(t, c)
	publish(t, js, 20)
	minority := leader(t, c, -1)

	if err := c.Partition([]int{minority}); err != nil {
		t.Fatal(err)
	}
	alone := natstest.JetStream(t, c.Server(minority), patient()...)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if ack, err := alone.Publish(ctx, "events.lost", nil); err == nil {
		t.Fatalf("a server that was cut off acknowledged %+v", ack)
	}
	majority := natstest.JetStream(t, c.Server((minority+1)%c.Size()), patient()...)
	began := time.Now()
	publish(t, majority, 20)
	t.Logf("the majority took 20 writes within %v", time.Since(began).Round(time.Millisecond))

	began = time.Now()
	c.HealPartition()
	waitWhole(t, c)
	t.Logf("whole %v after healing", time.Since(began).Round(time.Millisecond))
	expectMessages(t, alone, 40)
}

// TestClusterRollingRestart: each server is restarted cleanly while a client writes.
func TestClusterRollingRestart(t *testing.T) {
	c := natstest.Cluster(t)
	js := replicated(t, c)
	for i := range c.Size() {
		if err := c.Restart(i); err != nil {
			t.Fatal(err)
		}
		publish(t, js, 10)
		waitWhole(t, c)
	}
	expectMessages(t, js, 30)
}

// TestClusterLink: one link leads a client to all servers. When the link is cut, the client is
// alone, while others continue.
func TestClusterLink(t *testing.T) {
	c := natstest.Cluster(t)
	link := c.Link()
	opts := append(link.Options(), nats.PingInterval(100*time.Millisecond), nats.MaxPingsOutstanding(2),
		nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.Timeout(200*time.Millisecond),
		nats.RetryOnFailedConnect(true))
	nc := natstest.Connect(t, c, opts...)
	natstest.Eventually(t, "the client is connected", time.Minute, func() (bool, string) {
		return nc.IsConnected(), nc.Status().String()
	})
	link.Cut()
	natstest.Eventually(t, "the client notices the cut", time.Minute, func() (bool, string) {
		return nc.IsReconnecting(), nc.Status().String()
	})
	other := replicated(t, c)
	publish(t, other, 1)
	link.Heal()
	natstest.Eventually(t, "the client is back", time.Minute, func() (bool, string) {
		return nc.IsConnected(), nc.Status().String()
	})
}

// leader waits for a leader of the stream other than old (-1: any).
func leader(t *testing.T, c *natsrun.Cluster, old int) (i int) {
	t.Helper()
	natstest.Eventually(t, "the stream has a leader", time.Minute, func() (ok bool, seen string) {
		i, ok = c.LeaderOf(clusterStream)
		return ok && i != old, fmt.Sprintf("n%d: %t", i, ok)
	})
	return i
}

// waitWhole waits until all servers are up to date.
func waitWhole(t *testing.T, c *natsrun.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitStream(ctx, clusterStream); err != nil {
		t.Fatal(err)
	}
}
