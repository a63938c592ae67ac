package natskv

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// reached opens or creates the stream T over a Reach, with subjects below $KV.
func reached(t *testing.T, r Reach, nc *nats.Conn) *Stream {
	t.Helper()
	s, err := r.CreateStream(t.Context(), nc, "$KV.T.", jetstream.StreamConfig{
		Name: "T", Subjects: []string{"$KV.T.>"}, MaxMsgsPerSubject: 1, AllowMsgTTL: true, AllowAtomicPublish: true,
	}, func(*jetstream.StreamInfo) []string { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAStreamIsReached: all that a stream offers works over a domain, from the hub and from leaf
// nodes with and without JetStream, and over the prefix of an account import. A stream of the same
// name at the leaf node gets nothing of it.
func TestAStreamIsReached(t *testing.T) {
	t.Parallel() // it waits most of the time
	h := natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{
		{Name: "site"}, {Name: "relay", NoJetStream: true},
	}})
	over, err := NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	atSite := natstest.Connect(t, h.Leaf(0).Server)
	own := reached(t, Reach{}, atSite)
	there := reached(t, over, natstest.Connect(t, h.Server))
	for name, at := range map[string]*natsrun.Server{
		"hub": h.Server, "site": h.Leaf(0).Server, "relay": h.Leaf(1).Server,
	} {
		t.Run(name, func(t *testing.T) {
			nc := natstest.Connect(t, at)
			s := reached(t, over, nc)
			if !s.Identity().Same(there.Identity()) || s.Identity().Domain != "hub" {
				t.Fatalf("%v, want %v", s.Identity(), there.Identity())
			}
			offersAll(t, nc, s)
		})
	}
	if _, err := own.Get(t.Context(), atSite, "seal"); !errors.Is(err, ErrRecordNotFound) {
		t.Errorf("the stream at the site: %v", err)
	}

	file, err := server.ProcessConfigFile("testdata/import.conf")
	if err != nil {
		t.Fatal(err)
	}
	accounts := natstest.Server(t, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.Accounts, so.Users = file.Accounts, file.Users }
	})
	imported, err := NewReach("", "JS.A.API")
	if err != nil {
		t.Fatal(err)
	}
	reached(t, Reach{}, natstest.Connect(t, accounts, nats.UserInfo("a", "x")))
	t.Run("import", func(t *testing.T) {
		nc := natstest.Connect(t, accounts, nats.UserInfo("b", "x"), nats.CustomInboxPrefix("_INBOX_b"))
		offersAll(t, nc, reached(t, imported, nc))
	})
}

// offersAll writes and reads in all the ways that there are.
func offersAll(t *testing.T, nc *nats.Conn, s *Stream) {
	t.Helper()
	w, err := NewWriter(nc, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	watch, err := s.Watch(t.Context(), nc, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watch.Close)
	before := uint64(0)
	if e, err := s.Get(t.Context(), nc, "seal"); err == nil {
		before = e.Revision
	}
	seal := mustWin(t, w, Write{Key: "seal", Expect: before, Value: []byte("1")})
	if r := write(t, w, Write{Key: "seal", Expect: before}, 10*time.Second); r.Outcome != Refused {
		t.Errorf("a write over an earlier revision: %+v", r)
	}
	key := nc.Opts.Name + time.Now().Format("150405.000000") + "."
	mustWin(t, w, Write{Key: key + "ttl", Value: []byte("v"), TTL: time.Second})
	last := mustWin(t, w, Write{
		Key: key + "kept", Value: []byte("v"), TTL: time.Hour, Header: []Field{{"H", "x"}},
		Guard: &Guard{Key: "seal", Revision: seal},
	})
	late := Write{Key: key + "no", Guard: &Guard{Key: "seal", Revision: seal - 1}}
	if r := write(t, w, late, 10*time.Second); r.Outcome != Refused {
		t.Errorf("a write under an earlier seal: %+v", r)
	}
	ops := make([]Write, 100)
	for i := range ops {
		ops[i] = Write{Key: key + "all." + strconv.Itoa(i), Value: []byte("v"), TTL: time.Hour}
	}
	got := make(chan Result, 1)
	w.SubmitBatch(Guard{Key: "seal", Revision: seal}, ops, 10*time.Second, func(r Result) { got <- r })
	if r := <-got; r.Outcome != Won || r.Revision < last+100 {
		t.Errorf("a batch: %+v after %d", r, last)
	}
	w.SubmitEach([]Write{{Key: key + "new"}, {Key: key + "all.0"}}, 10*time.Second, func(r Result) { got <- r })
	if r := <-got; r.Outcome != Refused {
		t.Errorf("a batch with a condition that does not hold: %+v", r)
	}
	if e, err := s.GetRevision(t.Context(), nc, last); err != nil || string(e.Value) != "v" || e.Header.Get("H") != "x" {
		t.Errorf("%+v, %v", e, err)
	}
	entries, more, err := s.Scan(t.Context(), nc, Scan{Filter: key + "all.>", Limit: 60})
	if err != nil || !more || len(entries) != 60 {
		t.Errorf("scan: %d, %v, %v", len(entries), more, err)
	}
	if gone, err := s.Absent(t.Context(), nc, key+"new", last); err != nil || !gone {
		t.Errorf("absent: %t, %v", gone, err)
	}
	natstest.Eventually(t, "the record with a TTL is gone", time.Minute, func() (bool, string) {
		_, err := s.Get(t.Context(), nc, key+"ttl")
		return errors.Is(err, ErrRecordNotFound), ""
	})
	seen := 0
	for seen < 100 {
		for _, e := range next(t, watch).Entries {
			if e.Revision > last {
				seen++
			}
		}
	}
}

// TestAStreamIsNotTakenForANamesake: the connection comes back on another server, which has a
// stream of the same name. Nothing is read there or written, and the error is permanent.
func TestAStreamIsNotTakenForANamesake(t *testing.T) {
	home, other := natstest.Server(t, natstest.Listen), natstest.Server(t, natstest.Listen)
	reached(t, Reach{}, natstest.Connect(t, other))
	nc, err := nats.Connect(home.URL()+","+other.URL(), nats.DontRandomize(), nats.MaxReconnects(-1),
		nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	s := reached(t, Reach{}, nc)
	w, err := NewWriter(nc, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	mustWin(t, w, Write{Key: "k"})
	home.Stop()
	natstest.Eventually(t, "the other server is reached", time.Minute, func() (bool, string) {
		return nc.IsConnected() && nc.Stats().Reconnects > 0, ""
	})
	_, got := s.Get(t.Context(), nc, "k")
	_, _, scanned := s.Scan(t.Context(), nc, Scan{Filter: ">", Limit: 1})
	_, watched := s.Watch(t.Context(), nc, "", 0)
	_, absent := s.Absent(t.Context(), nc, "k", 0)
	written := write(t, w, Write{Key: "new"}, 10*time.Second)
	for what, err := range map[string]error{
		"read": got, "scan": scanned, "watch": watched, "look": absent, "write": written.Err,
	} {
		other := (*OtherBucketError)(nil)
		if !errors.As(err, &other) || other.Stream != "T" || !Permanent(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if written.Outcome != Unknown {
		t.Errorf("%+v", written)
	}
}
