package natskv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

func newWatch(tb testing.TB, nc *nats.Conn, b *Bucket, filter string) *Watch {
	tb.Helper()
	w, err := b.Watch(within(tb), nc, filter)
	if err != nil {
		tb.Fatalf("watch: %v", err)
	}
	tb.Cleanup(w.Close)
	return w
}

// snapshot reads until the snapshot is complete.
func snapshot(tb testing.TB, w *Watch) []Entry {
	tb.Helper()
	var all []Entry
	for {
		u := next(tb, w)
		all = append(all, u.Entries...)
		if u.Snapshot {
			return all
		}
	}
}

func keys(entries []Entry) string {
	var out []string
	for _, e := range entries {
		k := e.Key
		if e.Marker {
			k = "-" + k
		}
		out = append(out, k)
	}
	return strings.Join(out, " ")
}

// silentFor is how long a watch with the usual heartbeats may be silent.
const silentFor = 5 * idleHeartbeat / 2

func TestWatchEmptyBucket(t *testing.T) {
	_, nc, b := newBucket(t)
	w := newWatch(t, nc, b, "c.>")
	u := next(t, w)
	if !u.Snapshot || len(u.Entries) != 0 {
		t.Fatalf("first update %+v", u)
	}
	rev := mustWin(t, newWriter(t, nc, b), Write{Key: "c.role.a", Value: []byte("v")})
	u = next(t, w)
	if u.Snapshot || len(u.Entries) != 1 || u.Entries[0].Revision != rev || string(u.Entries[0].Value) != "v" {
		t.Errorf("second update %+v, want revision %d", u, rev)
	}
}

func TestWatchIsInRevisionOrder(t *testing.T) {
	_, nc, b := newBucket(t)
	wr := newWriter(t, nc, b)
	for _, k := range []string{"c.lease.a", "c.role.x", "other.k", "c.member.a", "c.role.y", "c.lease.b"} {
		mustWin(t, wr, Write{Key: k})
	}
	w := newWatch(t, nc, b, "c.>")
	if got, want := keys(snapshot(t, w)), "c.lease.a c.role.x c.member.a c.role.y c.lease.b"; got != want {
		t.Errorf("snapshot %q, want %q", got, want)
	}
	for _, k := range []string{"c.member.b", "other.l", "c.role.z", "c.lease.c"} {
		mustWin(t, wr, Write{Key: k})
	}
	var later []Entry
	for len(later) < 3 {
		later = append(later, next(t, w).Entries...)
	}
	if got, want := keys(later), "c.member.b c.role.z c.lease.c"; got != want {
		t.Errorf("later %q, want %q", got, want)
	}
	if got := keys(snapshot(t, newWatch(t, nc, b, "c.role.>"))); got != "c.role.x c.role.y c.role.z" {
		t.Errorf("the roles: %q", got)
	}
	if got := len(snapshot(t, newWatch(t, nc, b, ""))); got != 10 {
		t.Errorf("no filter: %d keys, want all 10", got)
	}
}

func TestWatchSeesMarkers(t *testing.T) {
	t.Parallel() // it waits most of the time
	_, nc, b := newBucket(t)
	wr := newWriter(t, nc, b)
	js, _ := jetstream.New(nc)
	kv, err := js.KeyValue(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	w := newWatch(t, nc, b, ">")
	snapshot(t, w)
	sees := func(want string) { // before the next write, because a record that is superseded first is not delivered
		t.Helper()
		if got := keys(next(t, w).Entries); got != want {
			t.Fatalf("saw %q, want %q", got, want)
		}
	}
	for _, k := range []string{"deleted", "purged"} {
		mustWin(t, wr, Write{Key: k})
		sees(k)
	}
	if err := kv.Delete(t.Context(), "deleted"); err != nil {
		t.Fatal(err)
	}
	sees("-deleted")
	if err := kv.Purge(t.Context(), "purged"); err != nil {
		t.Fatal(err)
	}
	sees("-purged")
	expired := mustWin(t, wr, Write{Key: "expired", TTL: time.Second})
	var seen []Entry
	for len(seen) == 0 || !seen[len(seen)-1].Marker {
		seen = append(seen, next(t, w).Entries...)
	}
	if got := keys(seen); got != "expired -expired" && got != "-expired" {
		t.Fatalf("saw %q, want the record, if it was seen in time, and its expiry", got)
	}
	// The marker is in the new watch's snapshot, and the next write must expect it.
	again := snapshot(t, newWatch(t, nc, b, "expired"))
	if len(again) != 1 || !again[0].Marker || again[0].Revision <= expired {
		t.Fatalf("snapshot after the expiry: %+v", again)
	}
	mustWin(t, wr, Write{Key: "expired", Expect: again[0].Revision})
}

// While the snapshot is read, its keys are overwritten and others are added. The watch leaves out
// no key: a key that the snapshot lacks was overwritten meanwhile, and comes after the snapshot at
// a later revision.
func TestSnapshotLosesNothingUnderWrites(t *testing.T) {
	// a starved server may be silent for too long
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, _ *natsrun.Link) {
		wr := newWriter(t, b.nc, b)
		const n = 2000
		var all sync.WaitGroup
		put := func(key string, done func()) {
			all.Add(1)
			wr.Submit(Write{Key: key, Guard: &Guard{Key: "nothing"}}, time.Minute, func(r Result) {
				if r.Outcome != Won {
					t.Errorf("%s: %v", key, r.Err)
				}
				if done != nil {
					done()
				}
				all.Done()
			})
		}
		for i := range n {
			put(fmt.Sprint("old.", i), nil)
		}
		all.Wait()

		credit := make(chan struct{}, 64) // writes in flight
		written := 0
		// The budget is just enough to write while a snapshot is read. If writers never pause, they
		// keep a server from delivering: it falls behind for ever, and its snapshot does not end.
		const budget = 1000
		write := func(stop <-chan struct{}) {
			for range budget {
				written++
				for _, key := range []string{fmt.Sprint("old.", written%n), fmt.Sprint("new.", written)} {
					select {
					case <-stop:
						return
					case credit <- struct{}{}:
					}
					put(key, func() { <-credit })
				}
			}
		}
		for round := range 5 {
			stop := make(chan struct{})
			var writer sync.WaitGroup
			writer.Go(func() { write(stop) })
			w := newWatch(t, nc, b, "")
			seen, last := make(map[string]bool), uint64(0)
			for _, e := range snapshot(t, w) {
				seen[e.Key], last = true, e.Revision
			}
			missing := make(map[string]bool)
			for i := range n {
				if key := fmt.Sprint("old.", i); !seen[key] {
					missing[key] = true
				}
			}
			if len(missing) == n {
				t.Fatalf("round %d: the snapshot is empty", round)
			}
			for deadline := time.After(time.Minute); len(missing) > 0; {
				select {
				case u := <-w.C():
					for _, e := range u.Entries {
						if e.Revision <= last {
							t.Errorf("round %d: revision %d after the snapshot's last, %d", round, e.Revision, last)
						}
						delete(missing, e.Key)
					}
				case <-deadline:
					t.Fatalf("round %d: %d keys never came", round, len(missing))
				}
			}
			w.Close()
			close(stop)
			writer.Wait()
		}
		all.Wait()
	})
}

// More data than the flow control window waits for a slow receiver: nothing is lost, and little is
// buffered.
func TestSlowReceiverHoldsTheServerUp(t *testing.T) {
	thorough.Only(t, "it stores 57 MB")
	s, nc, b := newBucket(t)
	wr := newWriter(t, nc, b)
	const n, size = 900, 64 << 10
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		wr.Submit(Write{Key: fmt.Sprint("k", i), Value: make([]byte, size)}, time.Minute, func(r Result) {
			if r.Outcome != Won {
				t.Errorf("write %d: %v", i, r.Err)
			}
			all.Done()
		})
		if i%50 == 49 {
			all.Wait()
		}
	}
	all.Wait()
	reader := connect(t, s.ClientURL())
	w := newWatch(t, reader, b, "")
	first := next(t, w)
	// Nobody reads now. The number of arrived entries stops growing well before all are here.
	last := uint64(0)
	eventually(t, "the server waits", func() bool {
		was := last
		last = reader.Stats().InBytes
		time.Sleep(200 * time.Millisecond)
		return was == last && last == reader.Stats().InBytes
	})
	if last > 40<<20 {
		t.Errorf("%d MiB were sent to a receiver that does not read", last>>20)
	}
	t.Logf("%d of %d MiB were sent ahead", last>>20, n*size>>20)
	got := len(first.Entries) + len(snapshot(t, w))
	if got != n {
		t.Errorf("%d of %d entries", got, n)
	}
}

func TestGapEndsTheWatch(t *testing.T) {
	s, nc, b := newBucket(t)
	wr := newWriter(t, nc, b)
	k := newLink(t, s)
	w := newWatch(t, connect(t, k.url()), b, "")
	snapshot(t, w)
	mustWin(t, wr, Write{Key: "seen"})
	next(t, w)
	k.set(func() { k.mute = true })
	mustWin(t, wr, Write{Key: "lost"})
	eventually(t, "the entry was thrown away", func() bool { return strings.Contains(k.dropped(), "$KV.b.lost") })
	k.set(func() { k.mute = false })
	mustWin(t, wr, Write{Key: "late"})
	if err := ended(t, w); !errors.Is(err, ErrWatchLost) || Permanent(err) {
		t.Errorf("ended with %v", err)
	}
}

// TestSilenceEndsTheWatch: a silent connection ends the watch too, after the server has had its
// time to answer.
func TestSilenceEndsTheWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link) {
		w := newWatch(t, nc, b, "")
		snapshot(t, w)
		began := time.Now()
		link.CutOneWay(natsrun.ToClient)
		if err := ended(t, w); !errors.Is(err, ErrWatchLost) || !strings.Contains(err.Error(), "silent") {
			t.Errorf("ended with %v", err)
		}
		if took := time.Since(began); took < silentFor-idleHeartbeat+answerTime || took > silentFor+answerTime {
			t.Errorf("ended after %v", took)
		}
		link.Heal()
	})
}

// If a consumer is gone while the connection is well, the watch notices as soon as it has asked the
// server.
func TestSilenceOfTheConsumerEndsTheWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, _ *natsrun.Link) {
		w := newWatch(t, nc, b, "")
		snapshot(t, w)
		began := time.Now()
		if _, err := nc.Request(w.consumer.deleteSubject(w.at), nil, time.Second); err != nil {
			t.Fatal(err)
		}
		if err := ended(t, w); !errors.Is(err, ErrWatchLost) || !strings.Contains(err.Error(), "silent") {
			t.Errorf("ended with %v", err)
		}
		if took := time.Since(began); took < silentFor-idleHeartbeat || took > silentFor+time.Second {
			t.Errorf("ended after %v", took)
		}
	})
}

// Lateness alone does not end the watch: a new watch would have to receive everything again, and be
// later still.
func TestLatenessKeepsTheWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link) {
		w := newWatch(t, nc, b, "")
		snapshot(t, w)
		writer := newWriter(t, nc, b)
		if r := write(t, writer, Write{Key: "first"}, time.Minute); r.Outcome != Won { // which bucket this is, is known then
			t.Fatal(r.Err)
		}
		next(t, w)
		for i := range 3 {
			link.Hold(natsrun.ToClient)
			writer.Submit(Write{Key: fmt.Sprint("k", i)}, time.Minute, func(Result) {})
			time.Sleep(silentFor + answerTime - idleHeartbeat - time.Second)
			select {
			case u, ok := <-w.C():
				t.Fatalf("got %+v, open %v: %v", u, ok, w.Err())
			default:
			}
			link.Release()
			if u := next(t, w); len(u.Entries) != 1 || u.Entries[0].Key != fmt.Sprint("k", i) {
				t.Errorf("got %+v", u)
			}
		}
	})
}

// A caller with enough patience gets a watch from a server that takes longer than other questions
// may take, and asks for it once.
func TestPatienceGetsTheWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link) {
		for _, patience := range []time.Duration{answerWithin + time.Second, 3 * answerWithin} {
			link.Hold(natsrun.ToClient)
			time.AfterFunc(2*answerWithin, link.Release)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			began := time.Now()
			w, err := b.Watch(ctx, nc, "")
			cancel()
			switch took := time.Since(began); {
			case patience < 2*answerWithin &&
				(!errors.Is(err, context.DeadlineExceeded) || took < patience || took > patience+time.Second):
				t.Errorf("with %v: %v after %v", patience, err, took)
			case patience > 2*answerWithin && err != nil:
				t.Errorf("with %v: %v after %v", patience, err, took)
			}
			if err == nil {
				snapshot(t, w)
				w.Close()
			}
			time.Sleep(2 * answerWithin)
		}
	})
}

// An idle bucket keeps its watch: heartbeats come instead of entries.
func TestIdleWatchLives(t *testing.T) {
	inBubble(t, func(t *testing.T, b *Bucket, nc *nats.Conn, _ *natsrun.Link) {
		w := newWatch(t, nc, b, "")
		snapshot(t, w)
		select {
		case u, ok := <-w.C():
			t.Fatalf("got %+v, open %v: %v", u, ok, w.Err())
		case <-time.After(time.Hour):
		}
		rev := mustWin(t, newWriter(t, nc, b), Write{Key: "k"})
		if u := next(t, w); len(u.Entries) != 1 || u.Entries[0].Revision != rev {
			t.Errorf("got %+v", u)
		}
	})
}

func TestClosedConnectionEndsTheWatch(t *testing.T) {
	s, _, b := newBucket(t)
	nc := connect(t, s.ClientURL())
	w := newWatch(t, nc, b, "")
	snapshot(t, w)
	nc.Close()
	if err := ended(t, w); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("ended with %v", err)
	}
}

func TestCloseRemovesTheConsumer(t *testing.T) {
	_, nc, b := newBucket(t)
	watchers := func() int {
		s, err := b.Inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Watchers
	}
	before := nc.NumSubscriptions()
	w := newWatch(t, nc, b, "")
	if n := watchers(); n != 1 {
		t.Fatalf("%d consumers, want 1", n)
	}
	w.Close()
	w.Close()
	eventually(t, "the consumer is gone", func() bool { return watchers() == 0 })
	if n := nc.NumSubscriptions(); n != before {
		t.Errorf("%d subscriptions, before %d", n, before)
	}
	for u := range w.C() {
		t.Errorf("update after Close: %+v", u)
	}
	if w.Err() != nil {
		t.Errorf("error after Close: %v", w.Err())
	}
}

func TestStopWaitsForNothing(t *testing.T) {
	t.Parallel() // it waits most of the time
	s, _, b := newBucket(t)
	k := newLink(t, s)
	nc := connect(t, k.url(), nats.FlusherTimeout(time.Hour), nats.MaxReconnects(0)) // the cut ends it
	w := newWatch(t, nc, b, "")
	snapshot(t, w)
	k.set(func() { k.held = true })
	var hanging sync.WaitGroup
	hanging.Go(func() {
		for range 1000 {
			if nc.Publish("elsewhere", make([]byte, 1<<20)) != nil {
				return
			}
		}
	})
	eventually(t, "the connection hangs", func() bool { return hangs(nc) })
	w.Stop()
	if err := ended(t, w); err != nil {
		t.Errorf("ended with %v", err)
	}
	if !hangs(nc) {
		t.Error("the connection did not hang until the end: the test shows nothing")
	}
	k.cut()
	hanging.Wait()
}

func TestWatchPermissions(t *testing.T) {
	s := startServer(t, users{
		"all":  nil,
		"none": {Publish: &server.SubjectPermission{Allow: []string{"$JS.API.STREAM.INFO.KV_b"}}},
		// This is an observer's whole set of permissions.
		"observer": {
			Publish: &server.SubjectPermission{Allow: []string{
				"$JS.API.STREAM.INFO.KV_b", "$JS.API.CONSUMER.CREATE.KV_b.*.$KV.b.c.>",
				"$JS.API.CONSUMER.DELETE.KV_b.*", "$JS.FC.KV_b.>",
			}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_me.>"}},
		},
		"one": {Publish: &server.SubjectPermission{Allow: []string{
			"$JS.API.STREAM.INFO.KV_b", "$JS.API.CONSUMER.CREATE.KV_b.*.$KV.b.c.role.>",
		}}},
	})
	b, err := Create(t.Context(), connect(t, s.ClientURL(), nats.UserInfo("all", "x")), Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	watch := func(user string, opts []nats.Option, filter string) error {
		nc := connect(t, s.ClientURL(), append(opts, nats.UserInfo(user, "x"))...)
		if _, err := Open(t.Context(), nc, "b"); err != nil {
			t.Errorf("%s: open: %v", user, err)
		}
		w, err := b.Watch(within(t), nc, filter)
		if err != nil {
			return err
		}
		snapshot(t, w)
		w.Close()
		return nil
	}
	var denied *PermissionError
	err = watch("none", nil, "c.>")
	if !errors.As(err, &denied) || !strings.HasPrefix(denied.Subject, "$JS.API.CONSUMER.CREATE.KV_b.") ||
		errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without the permission: %v", err)
	}
	if err := watch("observer", []nats.Option{nats.CustomInboxPrefix("_INBOX_me")}, "c.>"); err != nil {
		t.Errorf("observer: %v", err)
	}
	if err := watch("one", nil, "c.role.>"); err != nil {
		t.Errorf("permission for one filter: %v", err)
	}
	if err := watch("one", nil, "c.lease.>"); !errors.As(err, &denied) {
		t.Errorf("another filter than permitted: %v", err)
	}
}

func TestWatchOfABucketThatIsGone(t *testing.T) {
	_, nc, b := newBucket(t)
	deleteBucket(t, nc, "b")
	_, err := b.Watch(within(t), nc, "")
	if !errors.Is(err, ErrBucketNotFound) || !Permanent(err) {
		t.Errorf("got %v", err)
	}
}

func TestWatchIsBoundedByItsContext(t *testing.T) {
	s, _, b := newBucket(t)
	k := newLink(t, s)
	nc := connect(t, k.url())
	k.set(func() { k.mute = true })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := b.Watch(ctx, nc, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if n := nc.NumSubscriptions(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}
