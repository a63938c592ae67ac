//go:build realtime

package natstest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRealtimeSteppedClock: the server's wall clock is where it was stepped to, as the timestamps
// of its messages show. A record with a time to live ends by that clock, at the next check.
func TestRealtimeSteppedClock(t *testing.T) {
	p := natstest.SteppingServer(t)
	kv := steppedBucket(t, natstest.JetStream(t, p), 1)
	for _, total := range []time.Duration{0, 30 * time.Second, -30 * time.Second} {
		ahead, err := p.Step(0)
		if err != nil {
			t.Fatal(err)
		}
		if ahead, err = p.Step((total - ahead).Round(time.Second)); err != nil {
			t.Fatal(err)
		}
		storedAhead(t, kv, total, fmt.Sprintf("stepped to %v (it says %v)", total, ahead))
	}
	// The server looks for expired records at a time that it has chosen before the step: when the
	// soonest of all was due.
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

// steppedBucket makes the bucket of a test.
func steppedBucket(t *testing.T, js jetstream.JetStream, replicas int) jetstream.KeyValue {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "b", Replicas: replicas, LimitMarkerTTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// storedAhead writes a message and checks that its time comes from a clock that is so far ahead.
// The leader of replicas may not accept writes yet, and the server that is asked for the message
// may be behind.
func storedAhead(t *testing.T, kv jetstream.KeyValue, ahead time.Duration, where string) {
	t.Helper()
	var revision uint64
	before := time.Now()
	natstest.Eventually(t, "a write", time.Minute, func() (ok bool, seen string) {
		var err error
		before = time.Now()
		revision, err = kv.Put(t.Context(), "k", nil)
		return err == nil, fmt.Sprint(err)
	})
	after := time.Now()
	var e jetstream.KeyValueEntry
	natstest.Eventually(t, "it is read", time.Minute, func() (ok bool, seen string) {
		var err error
		e, err = kv.GetRevision(t.Context(), "k", revision)
		return err == nil, fmt.Sprint(err)
	})
	if at := e.Created().Add(-ahead); at.Before(before.Add(-time.Second)) || at.After(after.Add(time.Second)) {
		t.Errorf("%s: a message is stored at %v, between %v and %v", where, e.Created(), before, after)
	}
}
