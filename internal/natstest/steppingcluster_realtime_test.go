//go:build realtime

package natstest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRealtimeSteppedClockOfOneInCluster: on three replicas a message has the time of the server that leads its stream, whichever
// that is made to be, and the clocks of the others do not matter.
func TestRealtimeSteppedClockOfOneInCluster(t *testing.T) {
	c := natstest.SteppingCluster(t)
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "b", Replicas: c.Size(), LimitMarkerTTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	aheadBy := []time.Duration{0, 30 * time.Second, -30 * time.Second}
	for i, d := range aheadBy {
		if _, err := c.Process(i).Step(d); err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range aheadBy {
		if err := c.MoveLeader(ctx, nc, "KV_b", i); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		var revision uint64
		natstest.Eventually(t, "a write", time.Minute, func() (ok bool, seen string) { // the new leader may not take any yet
			revision, err = kv.Put(ctx, "k", nil)
			return err == nil, fmt.Sprint(err)
		})
		after := time.Now()
		var e jetstream.KeyValueEntry
		natstest.Eventually(t, "it is read", time.Minute, func() (ok bool, seen string) { // from any server, which may be behind
			e, err = kv.GetRevision(ctx, "k", revision)
			return err == nil, fmt.Sprint(err)
		})
		if at := e.Created().Add(-d); at.Before(before.Add(-time.Second)) || at.After(after.Add(time.Second)) {
			t.Errorf("n%d leads, whose clock is %v ahead: a message is stored at %v, between %v and %v", i, d, e.Created(), before, after)
		}
	}
}
