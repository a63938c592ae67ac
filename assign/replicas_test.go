package assign_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func replicated(s *election.SessionConfig, a *assign.Config, _ *bool) {
	s.Replicas, a.Replicas = 3, 3
	s.TTL = 10 * time.Second
}

// TestThreeReplicas: outcomes and notes go in atomic batches, under the one condition that a replicated stream allows at a
// time.
func TestThreeReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds to form")
	}
	s := natstest.Cluster(t)
	ran := newTally()
	var nodes []*node
	for _, name := range []string{"a", "b"} {
		nodes = append(nodes, newNode(t, s, name, func(a *assign.Assigner) {
			doubling(t, name, ran)(a)
			saying(t, a, nil)
		}, replicated))
	}
	leader(t, nodes...)
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true, Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			p, err := assign.Submit(ctx, c, double, i)
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := p.Wait(ctx); err != nil || out != 2*i {
				t.Errorf("task %d: %d, %v", i, out, err)
			}
		})
	}
	for range 10 { // each leaves a note twice
		all.Go(func() {
			p, err := assign.Submit(ctx, c, say, "fail twice")
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := p.Wait(ctx); err != nil {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
	all.Wait()
	if len(ran.of) != 200 || ran.max() != 1 {
		t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
	}
	if t.Failed() {
		for _, n := range nodes {
			t.Log(n.dump())
		}
	}
}
