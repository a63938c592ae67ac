package natskv

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// The package also works in virtual time: an hour of heartbeats, an idle watch that lives, a TTL
// that expires.
func TestInABubble(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, _ *natsrun.Link) {
		w, err := NewWriter(nc, b)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		seen, err := b.Watch(t.Context(), nc, "c.>")
		if err != nil {
			t.Fatal(err)
		}
		defer seen.Close()
		if u := <-seen.C(); !u.Snapshot {
			t.Fatalf("first update %+v", u)
		}
		submit := func(op Write) Result {
			done := make(chan Result, 1)
			w.Submit(op, time.Second, func(r Result) { done <- r })
			return <-done
		}
		var rev uint64
		for range 60 {
			r := submit(Write{Key: "c.lease.a", Expect: rev, TTL: 2 * time.Minute})
			if r.Outcome != Won {
				t.Fatalf("beat: %v", r.Err)
			}
			rev = r.Revision
			if u := <-seen.C(); len(u.Entries) != 1 || u.Entries[0].Revision != rev || u.Entries[0].Marker {
				t.Fatalf("saw %+v, wrote %d", u, rev)
			}
			time.Sleep(time.Minute)
		}
		start := time.Now()
		u := <-seen.C()
		if len(u.Entries) != 1 || !u.Entries[0].Marker {
			t.Fatalf("saw %+v, want the expiry", u)
		}
		if d := time.Since(start); d > 2*time.Minute {
			t.Errorf("expired after another %v", d)
		}
	})
}
