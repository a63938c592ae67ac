package natskv

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAWriterDoesNotWriteToANamesake: the connection comes back on another server, with a bucket of
// the same name. No write arrives there, not even one over nothing and one that was submitted while
// there was no connection. The writer says which buckets these are, for good.
func TestAWriterDoesNotWriteToANamesake(t *testing.T) {
	home, other := natstest.Server(t, natstest.Listen), natstest.Server(t, natstest.Listen)
	theirs, err := Create(t.Context(), natstest.Connect(t, other), Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(home.URL()+","+other.URL(), nats.DontRandomize(), nats.MaxReconnects(-1),
		nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	ours, err := Create(t.Context(), nc, Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, nc, ours)
	if r := write(t, w, Write{Key: "k"}, time.Second); r.Outcome != Won {
		t.Fatal(r.Err)
	}
	home.Stop()
	// Until then a write may be under way, and the client may send it on the next connection.
	natstest.Eventually(t, "the client has noticed", 10*time.Second, func() (bool, string) {
		return nc.ConnectedUrl() != home.URL(), nc.Status().String()
	})
	var said error
	natstest.Eventually(t, "the other bucket is found out", 10*time.Second, func() (bool, string) {
		r := write(t, w, Write{Key: "other"}, time.Second)
		if r.Outcome != Unknown {
			t.Fatalf("a write ended %v at %d", r.Outcome, r.Revision)
		}
		said = r.Err
		return errors.Is(said, ErrOtherBucket), said.Error()
	})
	found := (*OtherBucketError)(nil)
	if !Permanent(said) || !errors.As(said, &found) ||
		!found.Opened.Same(ours.Identity()) || !found.Found.Same(theirs.Identity()) ||
		!strings.Contains(said.Error(), ours.Identity().ID) || !strings.Contains(said.Error(), theirs.Identity().ID) {
		t.Errorf("it says %v", said)
	}
	if s, err := theirs.Inspect(t.Context()); err != nil || s.Keys != 0 {
		t.Errorf("%d records there, %v", s.Keys, err)
	}
}

// TestReach: over a domain, all of a bucket works from a leaf node with and without JetStream of
// its own, and from the hub. The records are those of one bucket.
func TestReach(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{
		Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}, {Name: "relay", NoJetStream: true}},
	})
	reach, err := NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	first, err := Create(t.Context(), natstest.Connect(t, h.Leaf(0)), Config{Bucket: "b", Reach: reach})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []*natsrun.Server{h.Server, h.Leaf(0).Server, h.Leaf(1).Server} {
		nc := natstest.Connect(t, s)
		b, err := reach.Open(t.Context(), nc, "b")
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Identity(); !got.Same(first.Identity()) || got.Domain != "hub" {
			t.Fatalf("place %d: %v, want %v", i, got, first.Identity())
		}
		w := newWriter(t, nc, b)
		created := write(t, w, Write{Key: "k", Expect: uint64(0), TTL: time.Minute}, 5*time.Second)
		if i == 0 && created.Outcome != Won || i > 0 && created.Outcome != Refused {
			t.Fatalf("place %d: create: %v, %v", i, created.Outcome, created.Err)
		}
		own := write(t, w, Write{Key: "own"}, 5*time.Second)
		guarded := write(t, w, Write{Key: "probe", Guard: &Guard{Key: "own", Revision: own.Revision}}, 5*time.Second)
		deleted := write(t, w, Write{Key: "own", Expect: own.Revision, Delete: true}, 5*time.Second)
		stale := write(t, w, Write{Key: "own", Expect: own.Revision}, 5*time.Second)
		if i == 0 && (own.Outcome != Won || guarded.Outcome != Won || deleted.Outcome != Won || stale.Outcome != Refused) {
			t.Errorf("place %d: %v, %v, %v, %v", i, own, guarded, deleted, stale)
		}
		watch, err := b.Watch(t.Context(), nc, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := len(snapshot(t, watch)); got != 3 {
			t.Errorf("place %d: a watch shows %d records, want 3", i, got)
		}
		watch.Close()
		if keys, _, err := b.Keys(t.Context(), "k"); err != nil || len(keys) != 1 {
			t.Errorf("place %d: keys %v, %v", i, keys, err)
		}
	}
	if _, err := Open(t.Context(), natstest.Connect(t, h.Leaf(0)), "b"); !errors.Is(err, ErrBucketNotFound) {
		t.Errorf("without the domain the leaf node has %v", err)
	}
}

func TestNewReach(t *testing.T) {
	for _, bad := range [][2]string{{"a", "b"}, {"a.b", ""}, {"a b", ""}, {"", "a.*"}, {"", "a..b"}, {"", "a b"}} {
		if r, err := NewReach(bad[0], bad[1]); err == nil {
			t.Errorf("%q is taken: %+v", bad, r)
		}
	}
	for _, good := range []struct{ domain, prefix, api, publish string }{
		{"", "", "$JS.API.INFO", "$KV.b.k"},
		{"", "$JS.API", "$JS.API.INFO", "$KV.b.k"},
		{"hub", "", "$JS.hub.API.INFO", "$JS.hub.API.$KV.b.k"},
		{"", "$JS.hub.API.", "$JS.hub.API.INFO", "$JS.hub.API.$KV.b.k"},
		{"", "JS.a.API.", "JS.a.API.INFO", "JS.a.API.$KV.b.k"},
	} {
		r, err := NewReach(good.domain, good.prefix)
		if err != nil || r.API("INFO") != good.api || r.Publish("$KV.b.k") != good.publish {
			t.Errorf("%+v: %q, %q, %v", good, r.API("INFO"), r.Publish("$KV.b.k"), err)
		}
		if r.IsZero() {
			continue
		}
		nc := natstest.Connect(t, natstest.Server(t))
		js, err := r.JetStream(nc)
		if err != nil || ReachOf(js) != r {
			t.Errorf("%+v: a client has %+v, %v", r, ReachOf(js), err)
		}
	}
}

// TestPrefixOfADomain: the API prefix of a domain is the domain, also that of a given client.
func TestPrefixOfADomain(t *testing.T) {
	want, err := NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.NewWithAPIPrefix(natstest.Connect(t, natstest.Server(t)), "$JS.hub.API")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := NewReach("", "$JS.hub.API"); err != nil || r != want || ReachOf(js) != want {
		t.Errorf("%+v, %v; a client has %+v; want %+v", r, err, ReachOf(js), want)
	}
}

// TestConcerns: a server of the domain takes the domain off before it checks a permission.
func TestConcerns(t *testing.T) {
	r, err := NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	for subject, complaints := range map[string][]string{
		"$JS.hub.API.STREAM.INFO.KV_b": {"$JS.hub.API.STREAM.INFO.KV_b", "$JS.API.STREAM.INFO.KV_b"},
		"$JS.hub.API.$KV.b.k":          {"$JS.hub.API.$KV.b.k", "$KV.b.k"},
	} {
		for _, about := range complaints {
			if !r.Concerns(&PermissionError{Subject: about}, subject) {
				t.Errorf("a complaint about %s does not concern %s", about, subject)
			}
		}
		if r.Concerns(&PermissionError{Subject: complaints[0], Subscribe: true}, subject) ||
			r.Concerns(&PermissionError{Subject: "$KV.b.other"}, subject) {
			t.Errorf("a complaint about something else concerns %s", subject)
		}
	}
	if (Reach{}).Concerns(&PermissionError{Subject: "b"}, "a") {
		t.Error("without a domain a complaint concerns another subject")
	}
}
