//go:build realtime

package live_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// onCluster runs three processes on a bucket with three replicas, in real time.
func onCluster(t *testing.T, ttl time.Duration, with ...func(*elections.Arena, *elections.Plan)) (*elections.Arena,
	*natsrun.Cluster,
) {
	t.Helper()
	c := natstest.Cluster(t)
	a := elections.New(t, c, jetstream.FileStorage)
	if err := c.WaitStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		a.Join(plan(name, func(p *elections.Plan) {
			p.Session = election.SessionConfig{TTL: ttl}
			for _, f := range with {
				f(a, p)
			}
		}))
	}
	a.AwaitLeader(role, patience)
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

// TestServerRestartRolling: every server of a cluster is restarted, one after the other; then the
// stream's leader is moved.
func TestServerRestartRolling(t *testing.T) {
	a, c := onCluster(t, 15*time.Second)
	n := cycles(t)
	for range n {
		for i := range c.Size() {
			if err := c.Restart(i); err != nil {
				t.Fatal(err)
			}
			whole(t, c)
			a.AwaitLeader(role, patience)
		}
		// one that stepped down may be elected again
		natstest.Eventually(t, "the stream's leader moves", 5*time.Minute, func() (bool, string) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, _, err := c.MoveLeader(ctx, stream)
			return err == nil, fmt.Sprint(err)
		})
		a.AwaitLeader(role, patience)
	}
	t.Logf("%d terms over rolling restarts and moved stream leaders", len(holds(a, 1)))
	a.Check()
	var all counts
	all.of(a)
	all.add(3*n, "servers restarted")
	played(t, n, "a rolling restart of three servers, and a moved stream leader", all)
}

// streamLeader waits until one server alone says that it leads the stream, but for one of them (-1:
// none). Behind a partition, and for a while after it, the former leader keeps saying so.
func streamLeader(t *testing.T, c *natsrun.Cluster, but int) (leader int) {
	t.Helper()
	natstest.Eventually(t, fmt.Sprintf("one server leads the stream, other than %d", but), patience,
		func() (bool, string) {
			var lead []int
			for i := range c.Size() {
				srv := c.Server(i).Running()
				if i != but && srv != nil && srv.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, stream) {
					lead = append(lead, i)
				}
			}
			if len(lead) == 1 {
				leader = lead[0]
			}
			return len(lead) == 1, fmt.Sprint(lead)
		})
	return leader
}

// of adds what an arena has seen of all roles; it is for when the arena was checked.
func (all *counts) of(a *elections.Arena) {
	terms, _ := a.Ledger.Terms()
	all.add(terms, "terms")
	all.add(a.Tally.Count("SessionLost"), "sessions lost")
	all.add(a.RecordLog.Kills(), "sessions killed")
	all.add(len(a.Ledger.Sweep())+len(a.RecordLog.Violations()), "violations")
}
