//go:build realtime

package natstest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRealtimeSteppedClock: the server's wall clock is where it was stepped to, as the timestamps of its messages say, and what
// has a time to live ends by that clock, at the next look.
func TestRealtimeSteppedClock(t *testing.T) {
	p := natstest.SteppingServer(t)
	nc, err := p.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b", LimitMarkerTTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, total := range []time.Duration{0, 30 * time.Second, -30 * time.Second} {
		ahead, err := p.Step(0)
		if err != nil {
			t.Fatal(err)
		}
		if ahead, err = p.Step((total - ahead).Round(time.Second)); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		if _, err := kv.Put(t.Context(), "k", nil); err != nil {
			t.Fatal(err)
		}
		e, err := kv.Get(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		after := time.Now()
		if at := e.Created().Add(-total); at.Before(before.Add(-time.Second)) || at.After(after.Add(time.Second)) {
			t.Errorf("stepped to %v (it says %v): a message is stored at %v, between %v and %v", total, ahead, e.Created(), before, after)
		}
	}
	// The server looks for what has expired at a time that it has chosen before the step: when the soonest of all was due.
	for key, ttl := range map[string]time.Duration{"hours": time.Hour, "soon": 2 * time.Second} {
		if _, err := kv.Create(t.Context(), key, nil, jetstream.KeyTTL(ttl)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Step(2 * time.Hour); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "what lives for an hour is gone", time.Minute, func() (bool, string) {
		_, err := kv.Get(t.Context(), "hours")
		return errors.Is(err, jetstream.ErrKeyNotFound), fmt.Sprint(err)
	})
}
