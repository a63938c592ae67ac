package assign_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func replicated(s *election.SessionConfig, a *assign.Config, _ *bool) {
	s.Replicas, a.Replicas = 3, 3
	s.TTL = 10 * time.Second
}

// TestThreeReplicas: outcomes and notes go in atomic batches, under the one condition that a
// replicated stream allows at a time.
func TestThreeReplicas(t *testing.T) {
	t.Parallel() // it waits for servers most of the time
	s := natstest.Tenant(t)
	ran := newTally()
	var nodes []*node
	for _, name := range []string{"a", "b"} {
		nodes = append(nodes, newNode(t, s, name, func(a *assign.Assigner) {
			doubling(t, name, ran)(a)
			saying(t, a, nil)
			sizing(t)(a)
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
	for i := range 5 { // each is stored as an object first
		all.Go(func() {
			size := (i + 1) * 300 << 10
			p, err := assign.Submit(ctx, c, sized, size)
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := p.Wait(ctx); err != nil || !bytes.Equal(out, pattern(size)) {
				t.Errorf("an output of %d bytes: %d came, %v", size, len(out), err)
			}
		})
	}
	all.Wait()
	if js, err := jetstream.New(nc); err != nil {
		t.Error(err)
	} else if stream, err := js.Stream(ctx, "OBJ_TASKS_"+testNS); err != nil || stream.CachedInfo().Config.Replicas != 3 {
		t.Errorf("the object store is not replicated as the stream is: %v", err)
	}
	if len(ran.of) != 200 || ran.max() != 1 {
		t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
	}
	if t.Failed() {
		for _, n := range nodes {
			t.Log(n.dump())
		}
	}
}
