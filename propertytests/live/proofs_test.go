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
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestProofsOnThreeReplicas: twenty callers ask without a pause for the proof that they lead. On
// three healthy replicas no proof is refused, the term lasts, and the session sends as many
// heartbeats as without them.
func TestProofsOnThreeReplicas(t *testing.T) {
	const callers, length = 20, 3 * time.Second
	c := natstest.Cluster(t)
	var beats atomic.Int64
	session, err := election.NewSession(election.SessionConfig{
		Bucket: elections.Bucket, BucketAutoCreate: true, Replicas: 3, InstanceID: "a", TTL: 5 * time.Second,
		Sinks: []event.Sink{event.SinkFunc(func(e event.Event) {
			if _, ok := e.(event.Heartbeat); ok {
				beats.Add(1)
			}
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Open(t.Context(), natstest.Connect(t, c)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(context.Background()) })
	began := make(chan *election.Term, 2)
	e, err := session.Campaign(election.RoleConfig{Role: "r", Lead: func(ctx context.Context, term *election.Term) error {
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
	time.Sleep(session.Config().HeartbeatInterval) // until then a proof may wait for the first heartbeat

	var proven, refused, unproven atomic.Int64
	before, from := beats.Load(), time.Now()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for time.Since(from) < length {
				switch ok, err := e.ValidateToken(t.Context()); {
				case err != nil:
					unproven.Add(1)
				case ok:
					proven.Add(1)
				default:
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	lasted := time.Since(from)
	sent, most := beats.Load()-before, int64(lasted/session.Config().HeartbeatInterval)+2
	t.Logf("%d proofs in %v, %d refused, %d without an answer, %d heartbeats", proven.Load(), lasted, refused.Load(),
		unproven.Load(), sent)
	if refused.Load() > 0 || unproven.Load() > 0 || proven.Load() < callers {
		t.Error("proofs are missing")
	}
	if !term.Valid() || e.Token().Epoch != term.Epoch() || len(began) > 0 {
		t.Error("the term was lost")
	}
	if sent > most {
		t.Errorf("%d heartbeats, at most %d intervals have begun", sent, most)
	}
}
