package election

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// TestObserverInDoubt: a watch over replicas shows an observer an older state than it knew. The
// observer makes a new watch by itself once a replica would have caught up, and continues when the
// new watch lacks nothing. It ends when another one, begun as late, still does.
func TestObserverInDoubt(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, err := NewSession(SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close(context.Background()) })
		o, err := Observe(t.Context(), natstest.Connect(t, s), "roles")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.Close)
		lags := func(begun time.Duration) {
			var reset protocol.WatchReset
			o.read(func(v *protocol.View, now record.Instant) {
				reset = protocol.WatchReset{Begun: now.Add(begun), Told: true, Last: v.Last() - 1, Known: v.Last()}
			})
			o.watcher.out <- batch{events: []protocol.Event{reset}}
		}
		doubts := func() (does bool) {
			natstest.Settle(t)
			o.read(func(v *protocol.View, now record.Instant) { does = v.AskAt().Sub(now) < time.Hour })
			return does
		}
		if doubts() {
			t.Fatal("in doubt before anything has happened")
		}
		lags(0)
		time.Sleep(view.BackPatience - time.Second)
		if !doubts() || o.Err() != nil {
			t.Fatalf("not in doubt any more, though no other watch was made: %v", o.Err())
		}
		time.Sleep(2 * time.Second)
		if doubts() || o.Err() != nil {
			t.Fatalf("in doubt after a watch that lacks nothing, or ended: %v", o.Err())
		}
		lags(0)
		lags(view.BackPatience - 1)
		if !doubts() || o.Err() != nil {
			t.Fatalf("ended by a watch that was begun too early: %v", o.Err())
		}
		lags(view.BackPatience)
		<-o.Done()
		if !errors.Is(o.Err(), ErrStoreRegressed) {
			t.Errorf("ended with %v, want %v", o.Err(), ErrStoreRegressed)
		}
	})
}
