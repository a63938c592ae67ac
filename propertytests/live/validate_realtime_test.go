//go:build realtime

package live_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRealtimeClusterValidate: on three replicas many ask at the same time whether their process
// leads, without a pause. Each is told that it does, the term lasts, and the questions cost no more
// heartbeats than the intervals that pass.
func TestRealtimeClusterValidate(t *testing.T) {
	t.Parallel()
	const ttl, callers, lasts = 10 * time.Second, 20, 5 * time.Second
	c := natstest.Cluster(t)
	var beats atomic.Int64
	s, err := election.NewSession(election.SessionConfig{
		Bucket: "validated", BucketAutoCreate: true, Replicas: 3, InstanceID: "a", TTL: ttl,
		Sinks: []event.Sink{event.SinkFunc(func(e event.Event) {
			if _, is := e.(event.Heartbeat); is {
				beats.Add(1)
			}
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) }) // at the latest when the lease runs out
	if err := s.Open(t.Context(), natstest.Connect(t, c)); err != nil {
		t.Fatal(err)
	}
	began := make(chan *election.Term, 1) // it leads once
	e, err := s.Campaign(election.RoleConfig{Role: "r", Lead: func(ctx context.Context, term *election.Term) error {
		began <- term
		<-ctx.Done()
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	term := <-began
	before, until := beats.Load(), time.Now().Add(lasts)
	var asking sync.WaitGroup
	var proved, refused atomic.Int64
	for range callers {
		asking.Go(func() {
			for time.Now().Before(until) {
				if ok, err := e.ValidateToken(t.Context()); ok {
					proved.Add(1)
				} else if refused.Add(1) == 1 {
					t.Errorf("not proved: %v, %v", ok, err)
				}
			}
		})
	}
	asking.Wait()
	t.Logf("%d proved, %d not, %d heartbeats in %v", proved.Load(), refused.Load(), beats.Load()-before, lasts)
	if most := int64(lasts/(ttl/5)) + 2; beats.Load()-before > most || proved.Load() < 100 || !term.Valid() {
		t.Errorf("%d heartbeats, want at most %d; %d proved; valid: %v",
			beats.Load()-before, most, proved.Load(), term.Valid())
	}
}
