//go:build realtime

package propertytests_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/arena"
)

// onCluster runs three processes on a bucket with three replicas, in real time.
func onCluster(t *testing.T, ttl time.Duration) (*arena.Arena, *natsrun.Cluster) {
	t.Helper()
	c := natstest.Cluster(t)
	a := arena.New(t, c, jetstream.FileStorage)
	if err := c.WaitStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		a.Join(plan(name, func(p *arena.Plan) { p.Session = election.SessionConfig{TTL: ttl} }))
	}
	a.AwaitLeader(role, 2*time.Minute)
	return a, c
}

// whole waits until all servers are up to date.
func whole(t *testing.T, c *natsrun.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitStream(ctx, stream); err != nil {
		t.Fatal(err)
	}
}

// TestServerRestartRolling: every server of a cluster is restarted, one after the other; then the stream's leader is moved.
func TestServerRestartRolling(t *testing.T) {
	a, c := onCluster(t, 15*time.Second)
	for i := range c.Size() {
		if err := c.Restart(i); err != nil {
			t.Fatal(err)
		}
		whole(t, c)
		a.AwaitLeader(role, 2*time.Minute)
	}
	natstest.Eventually(t, "the stream's leader moves", 5*time.Minute, func() (bool, string) { // one that stepped down may be elected again
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, _, err := c.MoveLeader(ctx, stream)
		return err == nil, fmt.Sprint(err)
	})
	a.AwaitLeader(role, 2*time.Minute)
	t.Logf("%d terms over a rolling restart and a moved stream leader", len(holds(a, 1)))
	a.Check()
}

// TestClusterPartition: the stream's leader is cut off with whoever is connected to it, then killed: the majority goes on.
func TestClusterPartition(t *testing.T) {
	a, c := onCluster(t, 3*time.Second)
	for round := range 2 {
		var victim int
		natstest.Eventually(t, "the stream has a leader", patience, func() (ok bool, seen string) {
			victim, ok = c.LeaderOf(stream)
			return ok, "none"
		})
		if round == 0 {
			if err := c.Partition([]int{victim}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second) // the election of a stream leader, and that of a role's
			c.HealPartition()
		} else {
			c.Kill(victim)
			a.AwaitLeader(role, 2*time.Minute)
			if err := c.Restart(victim); err != nil {
				t.Fatal(err)
			}
		}
		whole(t, c)
		a.AwaitLeader(role, 2*time.Minute)
	}
	t.Logf("%d terms, %d sessions killed", len(holds(a, 1)), a.Chronicle.Kills())
	a.Check()
}
