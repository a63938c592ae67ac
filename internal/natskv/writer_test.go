package natskv

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestCompareAndSwap(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	first := mustWin(t, w, Write{Key: "k", Value: []byte("1")})
	for _, tt := range []struct {
		name string
		op   Write
		want Outcome
	}{
		{"create over a record", Write{Key: "k"}, Refused},
		{"a revision that never was", Write{Key: "k", Expect: first + 100}, Refused},
		{"a revision of a key that is not there", Write{Key: "other", Expect: first}, Refused},
		{"the last revision", Write{Key: "k", Expect: first, Value: []byte("2")}, Won},
		{"the revision before", Write{Key: "k", Expect: first}, Refused},
		{"create", Write{Key: "other"}, Won},
	} {
		r := write(t, w, tt.op, 10*time.Second)
		if r.Outcome != tt.want {
			t.Errorf("%s: %v (%v), want %v", tt.name, r.Outcome, r.Err, tt.want)
		}
		if (r.Revision > first) != (tt.want == Won) || (r.Err == nil) != (tt.want == Won) {
			t.Errorf("%s: revision %d, error %v", tt.name, r.Revision, r.Err)
		}
		if tt.want == Refused && (!errors.Is(r.Err, ErrRefused) || Permanent(r.Err)) {
			t.Errorf("%s: error %v", tt.name, r.Err)
		}
	}
}

func TestMarkersAreExpectedLikeRecords(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	js, _ := jetstream.New(nc)
	kv, err := js.KeyValue(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	first := mustWin(t, w, Write{Key: "k"})
	if err := kv.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if r := write(t, w, Write{Key: "k"}, 10*time.Second); r.Outcome != Refused {
		t.Errorf("create over a marker: %v, want refused", r.Outcome)
	}
	mustWin(t, w, Write{Key: "k", Expect: first + 1})
}

func TestGuard(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	epoch := mustWin(t, w, Write{Key: "c.role.a"})
	guarded := Write{Key: "probe.x", Guard: &Guard{Key: "c.role.a", Revision: epoch}}
	for range 3 { // whichever revision the probe itself has
		mustWin(t, w, guarded)
	}
	mustWin(t, w, Write{Key: "c.role.a", Expect: epoch})
	if r := write(t, w, guarded, 10*time.Second); r.Outcome != Refused {
		t.Errorf("write guarded by a past epoch: %v, %v", r.Outcome, r.Err)
	}
}

func TestTTLIsKeptByUpdatesThatName(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	ttl := func(rev uint64) string {
		js, _ := jetstream.New(nc)
		s, err := js.Stream(t.Context(), b.Stream())
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.GetMsg(t.Context(), rev)
		if err != nil {
			t.Fatal(err)
		}
		return m.Header.Get(headerTTL)
	}
	first := mustWin(t, w, Write{Key: "k", TTL: time.Minute})
	second := mustWin(t, w, Write{Key: "k", Expect: first, TTL: 60*time.Second + time.Millisecond})
	if got := ttl(second); got != "61" {
		t.Errorf("TTL of the update is %q, want 61: rounded up", got)
	}
	third := mustWin(t, w, Write{Key: "k", Expect: second})
	if got := ttl(third); got != "" {
		t.Errorf("TTL of an update without one is %q", got)
	}
}

func TestImpossibleWritesEndAtOnce(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	for _, op := range []Write{
		{Key: ""},
		{Key: "a b"},
		{Key: "a.*"},
		{Key: ".a"},
		{Key: "a..b"},
		{Key: "a", Guard: &Guard{Key: ">"}},
		{Key: "a", Value: make([]byte, nc.MaxPayload()+1)},
	} {
		r := write(t, w, op, time.Minute)
		if r.Outcome != Unknown || !Permanent(r.Err) {
			t.Errorf("key %q: %v, %v", op.Key, r.Outcome, r.Err)
		}
	}
}

func TestOutcome(t *testing.T) {
	for data, want := range map[string]struct {
		outcome   Outcome
		permanent bool
	}{
		`{"stream":"KV_b","seq":7}`:                       {Won, false},
		`{"stream":"KV_other","seq":7}`:                   {Unknown, false},
		`{"stream":"KV_b","seq":0}`:                       {Unknown, false},
		`{"error":{"code":400,"err_code":10071}}`:         {Refused, false},
		`{"error":{"code":400,"err_code":10164}}`:         {Unknown, false}, // maybe our own write in flight
		`{"error":{"code":503,"err_code":10008}}`:         {Unknown, false},
		`{"error":{"code":503,"err_code":10077}}`:         {Unknown, false},
		`{"error":{"code":400,"err_code":10060}}`:         {Unknown, true},
		`{"error":{"code":404,"err_code":10059}}`:         {Unknown, true},
		`{"error":{"code":503,"err_code":10039}}`:         {Unknown, true},
		`{"error":{"code":400,"err_code":10166},"seq":4}`: {Unknown, true},
		``:           {Unknown, false},
		`+OK`:        {Unknown, false},
		`{"seq":"x"`: {Unknown, false},
	} {
		r := outcome(bucketPlace("b", Reach{}), []byte(data))
		if r.Outcome != want.outcome || Permanent(r.Err) != want.permanent || (r.Revision != 0) != (want.outcome == Won) {
			t.Errorf("%s: %+v, permanent %v", data, r, Permanent(r.Err))
		}
	}
}

// If a write is stored and its acknowledgement never comes, the outcome is Unknown, and only the
// store knows it.
func TestLostReplyIsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link) {
		w := newWriter(t, nc, b)
		first := mustWin(t, w, Write{Key: "k"})
		link.CutOneWay(natsrun.ToClient)
		r := write(t, w, Write{Key: "k", Expect: first, Value: []byte("stored")}, 200*time.Millisecond)
		if r.Outcome != Unknown || !errors.Is(r.Err, ErrTimeout) || Permanent(r.Err) {
			t.Fatalf("%v, %v", r.Outcome, r.Err)
		}
		if !strings.Contains(r.Err.Error(), "published") {
			t.Errorf("%v does not say that it was sent", r.Err)
		}
		if state, err := b.Inspect(t.Context()); err != nil || state.LastSeq != first+1 {
			t.Errorf("the unacknowledged write is not stored: %+v, %v", state, err)
		}
		link.Heal()
	})
}

// A late reply finds nothing, and the writer continues.
func TestLateReplyIsIgnored(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link) {
		w := newWriter(t, nc, b)
		mustWin(t, w, Write{Key: "warm"})
		calls := make(chan Result, 2) // one more than there should be
		link.Hold(natsrun.Both)
		w.Submit(Write{Key: "b"}, 50*time.Millisecond, func(r Result) { calls <- r })
		if r := <-calls; r.Outcome != Unknown {
			t.Fatalf("%v, %v", r.Outcome, r.Err)
		}
		link.Release()
		mustWin(t, w, Write{Key: "c"})
		natstest.Settle(t)
		if len(calls) != 0 {
			t.Error("done was called twice")
		}
		if r := write(t, w, Write{Key: "b"}, 10*time.Second); r.Outcome != Refused {
			t.Errorf("the late write was not stored: %v", r.Outcome)
		}
	})
}

// With the peer's TCP frozen and every buffer full, the connection holds its lock. No call of this
// package waits for it.
func TestFrozenConnectionBlocksNobody(t *testing.T) {
	t.Parallel() // it waits most of the time
	s, _, b := newBucket(t)
	k := newLink(t, s)
	nc := connect(t, k.url(), nats.FlusherTimeout(time.Hour), nats.MaxReconnects(0)) // the cut ends it
	w := newWriter(t, nc, b)
	mustWin(t, w, Write{Key: "k"})
	k.set(func() { k.held = true })

	var hanging sync.WaitGroup
	hanging.Go(func() { // fills the socket until the connection hangs in its write
		for range 1000 {
			if nc.Publish("elsewhere", make([]byte, 1<<20)) != nil {
				return
			}
		}
	})
	eventually(t, "the connection hangs", func() bool { return hangs(nc) })

	const n = 100
	results := make(chan Result, n)
	for i := range n {
		w.Submit(Write{Key: fmt.Sprint("k", i)}, 300*time.Millisecond, func(r Result) { results <- r })
	}
	for range n {
		if r := <-results; r.Outcome != Unknown || !errors.Is(r.Err, ErrTimeout) {
			t.Fatalf("%v, %v", r.Outcome, r.Err)
		}
	}
	if !hangs(nc) {
		t.Fatal("the connection did not hang until the end: the test shows nothing")
	}
	open := make(chan Result, 1)
	w.Submit(Write{Key: "open"}, time.Hour, func(r Result) { open <- r })
	w.Stop()
	if r := <-open; !errors.Is(r.Err, ErrClosed) {
		t.Errorf("write open at Stop: %v", r.Err)
	}
	k.cut()
	hanging.Wait()
	w.Close()
}

// hangs reports whether a call that takes the connection's lock does not return: one large write
// may hold it for some time on a busy machine. The call itself ends later.
func hangs(nc *nats.Conn) bool {
	done := make(chan struct{})
	go func() { nc.LastError(); close(done) }()
	select {
	case <-done:
		return false
	case <-time.After(500 * time.Millisecond):
		return true
	}
}

func TestBucketDeletedWhileWriting(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	mustWin(t, w, Write{Key: "k"})
	deleteBucket(t, nc, "b")
	start := time.Now()
	r := write(t, w, Write{Key: "k2"}, 10*time.Second)
	if r.Outcome != Unknown || !errors.Is(r.Err, ErrBucketNotFound) || !Permanent(r.Err) {
		t.Fatalf("%v, %v", r.Outcome, r.Err)
	}
	t.Logf("found out after %v", time.Since(start))
}

// A stream that exists and that nobody listens for is not gone: here its subjects were taken away.
func TestNobodyListensButTheBucketIsThere(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWriter(t, nc, b)
	js, _ := jetstream.New(nc)
	cfg := streamConfig(Config{Bucket: "b", Replicas: 1, MaxTTL: DefaultMaxTTL}, time.Now())
	cfg.Subjects = []string{"elsewhere.>"}
	cfg.FirstSeq = 0
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	r := write(t, w, Write{Key: "k"}, 10*time.Second)
	if r.Outcome != Unknown || !errors.Is(r.Err, ErrNoLeader) || Permanent(r.Err) {
		t.Errorf("%v, %v", r.Outcome, r.Err)
	}
}

// A server that is shutting down looks for a while as if the bucket were gone. No write may report
// that.
func TestServerRestartIsNotPermanent(t *testing.T) {
	s := natstest.Server(t) // in process: another process could take a port while the server is down
	nc := natstest.Connect(t, s, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
		nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	b, err := Create(t.Context(), nc, Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, nc, b)
	stop := make(chan struct{})
	var all sync.WaitGroup
	var won, unknown atomic.Int32
	all.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			r := write(t, w, Write{Key: fmt.Sprint("k", i)}, 200*time.Millisecond)
			if r.Outcome == Won {
				won.Add(1)
			} else {
				unknown.Add(1)
			}
			if Permanent(r.Err) {
				t.Errorf("write during a restart: %v", r.Err)
			}
		}
	})
	for range 3 {
		before := won.Load()
		eventually(t, "a write is won", func() bool { return won.Load() > before })
		s.Stop()
		before = unknown.Load()
		eventually(t, "a write is unknown", func() bool { return unknown.Load() > before })
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	all.Wait()
	eventually(t, "a write is won at last", func() bool {
		return write(t, w, Write{Key: "after"}, time.Second).Outcome != Unknown
	})
}

func TestPermissionDeniedNamesTheSubject(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := startServer(t, users{
		"u": {Publish: &server.SubjectPermission{Deny: []string{"$KV.b.c.role.x", "$KV.b.c.role.y"}}},
	})
	nc := connect(t, s.ClientURL(), nats.UserInfo("u", "x"))
	b, err := Create(t.Context(), nc, Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, nc, b)
	for _, key := range []string{"c.role.x", "c.role.x", "c.role.y"} {
		start := time.Now()
		r := write(t, w, Write{Key: key}, 30*time.Second)
		var denied *PermissionError
		if r.Outcome != Unknown || !errors.As(r.Err, &denied) || denied.Subject != "$KV.b."+key || !Permanent(r.Err) {
			t.Errorf("%s: %v, %v", key, r.Outcome, r.Err)
		}
		t.Logf("%s: found after %v", key, time.Since(start))
	}
	mustWin(t, w, Write{Key: "c.role.z"})
	// For a timeout below the usual doubt, the doubt comes at half the timeout, so that a short one
	// finds it as well.
	eventually(t, "found with a short timeout", func() bool {
		return errors.Is(write(t, w, Write{Key: "c.role.x"}, 60*time.Millisecond).Err, nats.ErrPermissionViolation)
	})
}

func TestWriterWithoutAnInbox(t *testing.T) {
	s := startServer(t, users{"all": nil, "deaf": {Subscribe: &server.SubjectPermission{Allow: []string{"other"}}}})
	b, err := Create(t.Context(), connect(t, s.ClientURL(), nats.UserInfo("all", "x")), Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewWriter(connect(t, s.ClientURL(), nats.UserInfo("deaf", "x")), b)
	var denied *PermissionError
	if !errors.As(err, &denied) || !denied.Subscribe {
		t.Errorf("got %v", err)
	}
}

func TestClosedConnectionIsPermanent(t *testing.T) {
	s, _, b := newBucket(t)
	nc := connect(t, s.ClientURL())
	w := newWriter(t, nc, b)
	nc.Close()
	if r := write(t, w, Write{Key: "k"}, 10*time.Second); !errors.Is(r.Err, nats.ErrConnectionClosed) ||
		!Permanent(r.Err) {
		t.Errorf("%v, %v", r.Outcome, r.Err)
	}
}

// Eight goroutines submit while the writer is stopped: each write is ended exactly once.
func TestEachWriteEndsOnce(t *testing.T) {
	_, nc, b := newBucket(t)
	const rounds, producers, each = 10, 8, 50
	for round := range rounds {
		w, err := NewWriter(nc, b)
		if err != nil {
			t.Fatal(err)
		}
		var counts [producers * each]atomic.Int32
		var won atomic.Int32
		var all sync.WaitGroup
		for p := range producers {
			all.Go(func() {
				for i := range each {
					n := p*each + i
					w.Submit(Write{Key: fmt.Sprintf("r%d.k%d", round, n)}, time.Minute, func(r Result) {
						counts[n].Add(1)
						if r.Outcome == Won {
							won.Add(1)
						}
					})
				}
			})
		}
		all.Go(w.Close)
		all.Wait()
		w.Close()
		for n := range counts {
			if c := counts[n].Load(); c != 1 {
				t.Fatalf("round %d: write %d ended %d times", round, n, c)
			}
		}
		if len(w.open) != 0 || len(w.due.rows) != 0 {
			t.Fatalf("round %d: %d open, %d among the deadlines", round, len(w.open), len(w.due.rows))
		}
	}
}

func TestTimeoutsComeInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link) {
		w := newWriter(t, nc, b)
		link.CutOneWay(natsrun.ToClient)
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for _, ms := range []int{300, 20, 150, 80, 220} {
			all.Add(1)
			w.Submit(Write{Key: fmt.Sprint("k", ms)}, time.Duration(ms)*time.Millisecond, func(Result) {
				mu.Lock()
				order = append(order, ms)
				mu.Unlock()
				all.Done()
			})
		}
		all.Wait()
		if fmt.Sprint(order) != "[20 80 150 220 300]" {
			t.Errorf("timeouts ended in the order %v", order)
		}
		link.Heal()
	})
}
