package assign_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWhatIsAnnouncedElsewhereIsNotBelieved: a user that may announce one task ends no other.
func TestWhatIsAnnouncedElsewhereIsNotBelieved(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		b := newBench()
		newNode(t, s, "a", b.register(t, "a"))
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := assign.Submit(t.Context(), c, slow, "x", assign.WithID("mine")); err != nil {
			t.Fatal(err)
		}
		b.allStarted(t, 2)
		done, other := waiting(t.Context(), p), waiting(t.Context(), assign.Find(c, slow, "mine"))
		natstest.Settle(t)
		nc := natstest.Connect(t, s)
		forged := "{\"v\":1,\"kind\":\"slow\",\"status\":\"dead\",\"cause\":\"permanent\",\"attempts\":1}\n\n\n\n"
		if err := nc.Publish(saidIn(t, nc, taskStream)+".done.mine", bulletin(p.ID(), forged)); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		natstest.Settle(t)
		if len(done) > 0 {
			t.Fatalf("believed: %v", (<-done).err)
		}
		close(b.gate)
		for _, d := range []<-chan waited{done, other} {
			if got := <-d; got.err != nil {
				t.Error(got.err)
			}
		}
	})
}

var wordy = assign.NewKind[string, string]("wordy")

// TestLargeOutputsAreAnnouncedToWhoWaitsForThem: another client, which waits for one small one of
// the same client, does not receive them; one that waits for a large one hears of it at once.
func TestLargeOutputsAreAnnouncedToWhoWaitsForThem(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		const n, size = 40, 30_000
		b := newBench()
		register := b.register(t, "a")
		leader(t, newNode(t, s, "a", func(a *assign.Assigner) {
			register(a)
			if err := assign.Handle(a, wordy, func(ctx context.Context, _ *assign.Task[string]) (string, error) {
				select {
				case <-b.gate:
				case <-ctx.Done():
				}
				return strings.Repeat("x", size), nil
			}); err != nil {
				t.Error(err)
			}
		}))
		c := New(t, s)
		nc := natstest.Connect(t, s)
		another, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(another.Close)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		all, err := assign.SubmitBatch(t.Context(), c, wordy, make([]string, n))
		if err != nil {
			t.Fatal(err)
		}
		b.allStarted(t, 1)
		small := waiting(t.Context(), assign.Find(another, slow, p.ID()))
		large := waiting(t.Context(), assign.Find(New(t, s), wordy, all[0].ID()))
		time.Sleep(5*time.Minute + time.Second) // virtual: they now read twice a minute
		before, closed := nc.Stats().InBytes, time.Now()
		close(b.gate)
		for i := range all {
			if out, err := all[i].Wait(t.Context()); err != nil || len(out) != size {
				t.Fatalf("%d bytes, %v", len(out), err)
			}
		}
		for _, done := range []<-chan waited{small, large} {
			if got := <-done; got.err != nil || got.at.Sub(closed) > 100*time.Millisecond { // virtual
				t.Errorf("heard of after %v: %v", got.at.Sub(closed), got.err)
			}
		}
		if bytes := nc.Stats().InBytes - before; bytes > size {
			t.Errorf("a client that waits for a small one received %d bytes", bytes)
		}
	})
}

// TestAQuestionEndsWithItsConnection: at once, not when it would be asked again.
func TestAQuestionEndsWithItsConnection(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		deaf := natstest.Connect(t, s)
		if _, err := deaf.Subscribe(said+".ctl", func(*nats.Msg) {}); err != nil {
			t.Fatal(err)
		}
		nc := natstest.Connect(t, s)
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if err := assign.PauseKind(t.Context(), c, "any", "for a while"); err != nil { // the client is open
			t.Fatal(err)
		}
		asked := make(chan waited, 1)
		go func() {
			_, err := assign.GetOverview(t.Context(), c)
			asked <- waited{time.Now(), err}
		}()
		natstest.Settle(t)
		closed := time.Now()
		nc.Close()
		got := <-asked
		// virtual
		if errors.Is(got.err, assign.ErrNoScheduler) || got.err == nil || got.at.Sub(closed) > 10*time.Millisecond {
			t.Errorf("%v after the connection was closed: %v", got.at.Sub(closed), got.err)
		}
	})
}
