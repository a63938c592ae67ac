package live_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestProofsOnThreeReplicas: twenty callers ask without a pause for the proof that they lead,
// beside the proofs of the ValidationInterval. On three healthy replicas no proof is refused, the
// term lasts, and the session sends as many heartbeats as without them.
//
// No proof is refused either while others write under the condition of the term, and no
// fencing.Publish is. A write that uses fencing.Condition alone is refused with 10164 at times, and
// with nothing else.
func TestProofsOnThreeReplicas(t *testing.T) {
	thorough.Only(t, "it keeps three servers busy")
	const callers, writers, length = 20, 2, time.Second
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
	e, err := session.Campaign(election.RoleConfig{
		Role: "r", ValidationInterval: session.Config().HeartbeatInterval,
		Lead: func(ctx context.Context, term *election.Term) error {
			began <- term
			<-ctx.Done()
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	term := <-began
	time.Sleep(session.Config().HeartbeatInterval) // until then a proof may wait for the first heartbeat

	js, err := jetstream.New(natstest.Connect(t, c))
	if err != nil {
		t.Fatal(err)
	}
	for _, writers := range []int{0, writers} {
		before, from := beats.Load(), time.Now()
		until := from.Add(length)
		var wg sync.WaitGroup
		var p proofs
		for range callers {
			wg.Go(func() { p.ask(t.Context(), e, until) })
		}
		var w conditional
		for i := range writers {
			wg.Go(func() { w.publish(t, js, fmt.Sprint("published.", i), term.Token(), until) })
			wg.Go(func() { w.alone(t, js, fmt.Sprint("alone.", i), term.Token(), until) })
		}
		wg.Wait()
		lasted := time.Since(from)
		sent, most := beats.Load()-before, int64(lasted/session.Config().HeartbeatInterval)+2
		t.Logf("beside %d writers: %d proofs in %v, %d refused, %d without an answer, %d heartbeats; %d published, "+
			"and under the condition alone %d stored, %d refused with 10164", 2*writers, p.proven.Load(), lasted,
			p.refused.Load(), p.unproven.Load(), sent, w.published.Load(), w.stored.Load(), w.collided.Load())
		if p.refused.Load() > 0 || p.proven.Load() < callers || writers == 0 && p.unproven.Load() > 0 {
			t.Error("proofs are missing")
		}
		if writers > 0 && (w.published.Load() == 0 || w.stored.Load() == 0 || w.collided.Load() == 0) {
			t.Error("the writes have not met each other")
		}
		if !term.Valid() || e.Token().Epoch != term.Epoch() || len(began) > 0 {
			t.Error("the term was lost")
		}
		if sent > most {
			t.Errorf("%d heartbeats, at most %d intervals have begun", sent, most)
		}
	}
}

// proofs counts what callers of ValidateToken have heard.
type proofs struct{ proven, refused, unproven atomic.Int64 }

func (p *proofs) ask(ctx context.Context, e *election.Election, until time.Time) {
	for time.Now().Before(until) {
		switch ok, err := e.ValidateToken(ctx); {
		case err != nil:
			p.unproven.Add(1)
		case ok:
			p.proven.Add(1)
		default:
			p.refused.Add(1)
		}
	}
}

// conditional counts writes under the condition of a term.
type conditional struct{ published, stored, collided atomic.Int64 }

func noteAt(key string) *nats.Msg {
	return &nats.Msg{Subject: "$KV." + elections.Bucket + "." + key, Data: []byte("x")}
}

// publish writes with fencing.Publish.
func (w *conditional) publish(t *testing.T, js jetstream.JetStream, key string, tok fencing.Token, until time.Time) {
	for time.Now().Before(until) {
		if _, err := fencing.Publish(t.Context(), js, noteAt(key), elections.Bucket, tok); err != nil {
			t.Errorf("a write under the term: %v", err)
			return
		}
		w.published.Add(1)
	}
}

// alone writes with fencing.Condition every few milliseconds, and tries nothing again at once.
func (w *conditional) alone(t *testing.T, js jetstream.JetStream, key string, tok fencing.Token, until time.Time) {
	for ; time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		m := noteAt(key)
		fencing.Condition(m, elections.Bucket, tok)
		_, err := js.PublishMsg(t.Context(), m)
		switch api := (*jetstream.APIError)(nil); {
		case err == nil:
			w.stored.Add(1)
		case errors.As(err, &api) && api.ErrorCode == 10164:
			w.collided.Add(1)
		default:
			t.Errorf("a write under the condition alone: %v", err)
			return
		}
	}
}
