package assign_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestAStreamIsGivenReplicasUnderAScheduler, and loses them again: tasks continue, and each runs
// once. If writes are pipelined as on one server, three replicas refuse nearly all of them, and 600
// tasks take minutes.
func TestAStreamIsGivenReplicasUnderAScheduler(t *testing.T) {
	thorough.Only(t, "it waits for servers")
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	ran := newTally()
	var nodes []*node
	for _, name := range []string{"a", "b"} {
		nodes = append(nodes, newNode(t, s, name, doubling(t, name, ran),
			func(s *election.SessionConfig, a *assign.Config, _ *bool) {
				s.Replicas, a.Replicas = 3, 1
				s.TTL = 10 * time.Second
			}))
	}
	leader(t, nodes...)
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	name := "TASKS_" + testNS
	sent := 0
	send := func(n int) {
		t.Helper()
		var all sync.WaitGroup
		for range n {
			i := sent
			sent++
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
		all.Wait()
	}
	send(100)
	for _, replicas := range []int{3, 1, 3} {
		stream, err := js.Stream(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := stream.CachedInfo().Config
		cfg.Replicas = replicas
		var editing sync.WaitGroup
		editing.Go(func() {
			if _, err := js.UpdateStream(ctx, cfg); err != nil {
				t.Error(err)
			}
		})
		send(200)
		editing.Wait()
		send(200)
	}
	if len(ran.of) != sent || ran.max() != 1 {
		t.Errorf("%d tasks ran, want %d, one of them %d times", len(ran.of), sent, ran.max())
	}
	if t.Failed() {
		for _, n := range nodes {
			t.Log(n.dump())
		}
	}
}
