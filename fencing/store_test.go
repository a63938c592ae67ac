package fencing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Halves(m) }

const testBucket = "data"

func term(epoch uint64) Token {
	holder := fmt.Sprintf("node-%d", epoch)
	return NewToken("scheduler", holder, epoch, 0, uuid.NewSHA1(uuid.NameSpaceOID, []byte(holder)))
}

// open opens a store for a term over a connection of its own.
func open(t *testing.T, s *natsrun.Server, tok Token, opts ...nats.Option) *Store {
	t.Helper()
	store, err := openOver(t, natstest.Connect(t, s, opts...), tok)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// openOver opens a store that gives an attempt up soon, for tests in which answers are lost.
func openOver(t *testing.T, nc *nats.Conn, tok Token) (*Store, error) {
	t.Helper()
	js := must(jetstream.New(nc))
	return OpenStore(t.Context(), js, testBucket, tok, WithCreate(1), WithAttemptTimeout(200*time.Millisecond))
}

// openPatient opens a store that waits for its answers however busy the machine is. It is for tests
// in which no answer is lost: an attempt that is given up may rightly end as unknown.
func openPatient(t *testing.T, s *natsrun.Server, tok Token) *Store {
	t.Helper()
	js := must(jetstream.New(natstest.Connect(t, s)))
	return must(OpenStore(t.Context(), js, testBucket, tok, WithCreate(1), WithAttemptTimeout(time.Minute)))
}

func wantValue(t *testing.T, s *Store, key, want string) Entry {
	t.Helper()
	e, err := s.Latest(t.Context(), key)
	if err != nil || string(e.Value) != want {
		t.Errorf("Latest(%q) = %q, %v; want %q", key, e.Value, err, want)
	}
	return e
}

func TestStore(t *testing.T) {
	ctx := t.Context()
	s := open(t, natstest.Server(t), term(7))
	first := must(s.Put(ctx, "a.b", []byte("1")))
	if _, err := s.Create(ctx, "a.b", []byte("2")); !errors.Is(err, jetstream.ErrKeyExists) {
		t.Errorf("Create of a key that exists: %v", err)
	}
	if _, err := s.Update(ctx, "a.b", []byte("2"), first+100); !errors.Is(err, ErrRevision) {
		t.Errorf("Update at another revision: %v", err)
	}
	second := must(s.Update(ctx, "a.b", []byte("2"), first))
	if second <= first {
		t.Errorf("Update went from revision %d to %d", first, second)
	}
	if e := wantValue(t, s, "a.b", "2"); e.Revision != second || e.Created.IsZero() || e.Deleted {
		t.Errorf("Latest = %+v, want revision %d", e, second)
	}
	if e, err := s.Get(ctx, "a.b"); err != nil || string(e.Value) != "2" || e.Revision != second {
		t.Errorf("Get = %+v, %v", e, err)
	}
	must(s.Put(ctx, "c", nil))
	if keys, err := s.Keys(ctx); err != nil || !slices.Equal(keys, []string{"a.b", "c"}) {
		t.Errorf("Keys = %v, %v", keys, err)
	}
	if err := s.Delete(ctx, "a.b"); err != nil {
		t.Error(err)
	}
	for name, get := range map[string]func(context.Context, string) (Entry, error){"Get": s.Get, "Latest": s.Latest} {
		for _, key := range []string{"a.b", "never"} {
			if _, err := get(ctx, key); !errors.Is(err, jetstream.ErrKeyNotFound) {
				t.Errorf("%s(%q) = %v, want not found", name, key, err)
			}
		}
	}
	if keys, err := s.Keys(ctx); err != nil || !slices.Equal(keys, []string{"c"}) {
		t.Errorf("Keys = %v, %v", keys, err)
	}
	// Over a marker, create writes again.
	must(s.Create(ctx, "a.b", []byte("3")))
	wantValue(t, s, "a.b", "3")
}

func TestStoreKeys(t *testing.T) {
	s := open(t, natstest.Server(t), term(7))
	for _, key := range []string{"", ".", "a.", ".a", "a..b", "a b", "*", "a.>", "ä", "_fence.seal", "_fence.x", "_kv.x"} {
		_, errPut := s.Put(t.Context(), key, nil)
		_, errGet := s.Get(t.Context(), key)
		_, errLatest := s.Latest(t.Context(), key)
		if !errors.Is(errPut, ErrKey) || !errors.Is(errGet, ErrKey) || !errors.Is(errLatest, ErrKey) {
			t.Errorf("%q: %v, %v, %v; want ErrKey", key, errPut, errGet, errLatest)
		}
	}
	for _, pattern := range []string{"", "a.>.b", "a*", "_fence.>", "x y"} {
		for _, err := range s.Watch(t.Context(), pattern) {
			if !errors.Is(err, ErrKey) {
				t.Errorf("watching %q: %v, want ErrKey", pattern, err)
			}
		}
	}
	if _, err := s.Put(t.Context(), "big", make([]byte, 2<<20)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("too large a value: %v", err)
	}
}

func TestStoreWatch(t *testing.T) {
	s := open(t, natstest.Server(t), term(7))
	ctx := t.Context()
	must(s.Put(ctx, "x.1", []byte("old")))
	must(s.Put(ctx, "y", []byte("other")))
	for _, pattern := range []string{"x.*", "x.>", ">", "*.*", "*.1"} {
		if err := s.Delete(ctx, "x.2"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range s.Watch(ctx, pattern) {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case e.Key == "": // complete; now a change
				got = append(got, "|")
				must(s.Put(ctx, "x.1", []byte("new")))
				continue
			case e.Key == "y":
				continue
			}
			got = append(got, fmt.Sprintf("%s=%s,%t", e.Key, e.Value, e.Deleted))
			if string(e.Value) == "new" {
				break
			}
		}
		slices.Sort(got[:slices.Index(got, "|")])
		want := "x.1=old,false x.2=,true | x.1=new,false"
		if pattern == "*.1" {
			want = "x.1=old,false | x.1=new,false"
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q yielded %v, want %s", pattern, got, want)
		}
		must(s.Put(ctx, "x.1", []byte("old")))
	}
	// The end of the context ends the loop without an error.
	ended, cancel := context.WithCancel(ctx)
	for e, err := range s.Watch(ended, ">") {
		if err != nil {
			t.Error(err)
		}
		if e.Key == "" {
			cancel()
		}
	}
	cancel()
}

// The hostile case: a holder that believes that it leads continues to write after a later term has
// opened the store.
func TestDeposedHolderIsRefused(t *testing.T) {
	server := natstest.Server(t)
	ctx := t.Context()
	old := open(t, server, term(41))
	at := must(old.Put(ctx, "state", []byte("old")))

	current := open(t, server, term(57))
	wantValue(t, current, "state", "old")
	for name, write := range map[string]func() error{
		"put":    func() error { _, err := old.Put(ctx, "state", []byte("late")); return err },
		"create": func() error { _, err := old.Create(ctx, "fresh", []byte("late")); return err },
		"update": func() error { _, err := old.Update(ctx, "state", []byte("late"), at); return err },
		"delete": func() error { return old.Delete(ctx, "state") },
		"latest": func() error { _, err := old.Latest(ctx, "state"); return err },
		"keys":   func() error { _, err := old.Keys(ctx); return err },
		"reopen": func() error { _, err := openOver(t, old.nc, term(41)); return err },
	} {
		old.ended = nil // each must be found out by the server, not remembered
		var stale *StaleError
		if err := write(); !errors.As(err, &stale) || stale.Token.Epoch != 41 || stale.High.Epoch != 57 ||
			stale.High.Holder != "node-57" {
			t.Errorf("%s: %v, want stale", name, err)
		}
	}
	if _, err := old.Put(ctx, "state", []byte("late")); !errors.Is(err, ErrStale) {
		t.Errorf("a stale store forgets that it is: %v", err)
	}
	if e := wantValue(t, current, "state", "old"); e.Revision != at {
		t.Errorf("the deposed holder has written revision %d", e.Revision)
	}
	if keys, err := current.Keys(ctx); err != nil || !slices.Equal(keys, []string{"state"}) {
		t.Errorf("the deposed holder has left %v, %v", keys, err)
	}
	if e, err := old.Get(ctx, "state"); err != nil || string(e.Value) != "old" {
		t.Errorf("a stale store can still read: %q, %v", e.Value, err)
	}
	must(current.Put(ctx, "state", []byte("new")))
}

func TestOpenStoreRefuses(t *testing.T) {
	server := natstest.Server(t)
	nc := natstest.Connect(t, server)
	js := must(jetstream.New(nc))
	ctx := t.Context()
	five := open(t, server, term(5))
	otherHolder := NewToken("scheduler", "imposter", 5, 0, testID)
	otherID := NewToken("scheduler", "node-5", 5, 0, testID)
	for name, c := range map[string]struct {
		tok  Token
		want error
	}{
		"older":        {term(4), ErrStale},
		"other holder": {otherHolder, ErrConflict},
		"other id":     {otherID, ErrConflict},
		"other role":   {NewToken("janitor", "node-5", 9, 0, testID), ErrForeignRole},
		"zero":         {Token{}, ErrNoToken},
		"no id":        {NewToken("scheduler", "node-5", 5, 0, uuid.Nil), ErrNoToken},
	} {
		if _, err := OpenStore(ctx, js, testBucket, c.tok); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := five.Put(ctx, "k", nil); err != nil {
		t.Errorf("a refused open has changed the seal: %v", err)
	}
	// A later attempt of the same epoch is a later term (a task's token).
	if _, err := OpenStore(ctx, js, testBucket, NewToken("scheduler", "node-5", 5, 1, testID)); err != nil {
		t.Errorf("a higher seq: %v", err)
	}
	if _, err := five.Put(ctx, "k", nil); !errors.Is(err, ErrStale) {
		t.Errorf("the lower seq: %v", err)
	}
	if _, err := OpenStore(ctx, js, "missing", term(5)); !errors.Is(err, natskv.ErrBucketNotFound) {
		t.Errorf("a missing bucket: %v", err)
	}
	if _, err := natskv.Create(ctx, nc, natskv.Config{Bucket: "memory", Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(ctx, js, "memory", term(5)); !errors.Is(err, ErrVolatile) {
		t.Errorf("a bucket in one server's memory: %v", err)
	}
	must(js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "plain"}))
	if _, err := OpenStore(ctx, js, "plain", term(5)); err == nil {
		t.Error("a bucket that was made by hand, whose revisions begin at 1, is opened")
	}
}

func TestSealHoldsNoSecret(t *testing.T) {
	server := natstest.Server(t)
	s := open(t, server, NewToken("scheduler", "node-1", 5, 0, testID))
	must(s.Put(t.Context(), "k", []byte("v")))
	kv := must(s.js.KeyValue(t.Context(), testBucket))
	for _, key := range must(kv.Keys(t.Context())) {
		if e := must(kv.Get(t.Context(), key)); strings.Contains(string(e.Value()), testID.String()) {
			t.Errorf("%s holds the id: %s", key, e.Value())
		}
	}
}

// Two stores of one term race for each key: exactly one creates it.
func TestCreateRace(t *testing.T) {
	t.Parallel() // it waits most of the time
	server := natstest.Server(t)
	const keys, racers = 40, 4
	var stores [racers]*Store
	for i := range stores {
		stores[i] = openPatient(t, server, term(7))
	}
	for k := range keys {
		key := fmt.Sprintf("key-%d", k)
		if k%2 == 1 { // every second one over a marker
			if err := stores[0].Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		var won atomic.Int32
		var winner atomic.Value
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				if k%5 == 0 { // one of them has doubts: it renews the seal under the others
					s.turn <- struct{}{}
					s.doubtful = s.doubtful || i == 0
					<-s.turn
				}
				_, err := s.Create(t.Context(), key, []byte(fmt.Sprint(i)))
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(fmt.Sprint(i))
				case !errors.Is(err, jetstream.ErrKeyExists):
					t.Errorf("store %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%s was created by %d stores, want exactly one", key, won.Load())
		}
		wantValue(t, stores[0], key, winner.Load().(string))
	}
}

// Counters in two stores of one term: no increment is lost, however often the seal is renewed in
// between.
func TestUpdateRace(t *testing.T) {
	t.Parallel() // it waits most of the time
	server := natstest.Server(t)
	const each = 30
	var wg sync.WaitGroup
	first := openPatient(t, server, term(7))
	must(first.Create(t.Context(), "n", []byte{0}))
	for range 2 {
		s := openPatient(t, server, term(7))
		wg.Go(func() {
			for done := 0; done < each; {
				e, err := s.Latest(t.Context(), "n")
				if err != nil {
					t.Error(err)
					return
				}
				switch _, err = s.Update(t.Context(), "n", []byte{e.Value[0] + 1}, e.Revision); {
				case err == nil:
					done++
				case !errors.Is(err, ErrRevision):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if e := must(first.Latest(t.Context(), "n")); e.Value[0] != 2*each {
		t.Errorf("counted to %d, want %d", e.Value[0], 2*each)
	}
}

func TestConditionOnTheRole(t *testing.T) {
	server := natstest.Server(t)
	nc := natstest.Connect(t, server)
	js := must(jetstream.New(nc))
	ctx := t.Context()
	if _, err := natskv.Create(ctx, nc, natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	kv := must(js.KeyValue(ctx, "roles"))
	epoch := must(kv.Create(ctx, "c.role.scheduler", []byte("term")))
	publish := func(tok Token) error {
		m := &nats.Msg{Subject: "$KV.roles.note", Data: []byte("x")}
		Condition(m, "roles", tok)
		_, err := js.PublishMsg(ctx, m)
		return err
	}
	tok := NewToken("scheduler", "node-1", epoch, 0, testID)
	if err := publish(tok); err != nil {
		t.Errorf("in the term: %v", err)
	}
	must(kv.Update(ctx, "c.role.scheduler", []byte("next term"), epoch))
	api := (*jetstream.APIError)(nil)
	if err := publish(tok); !errors.As(err, &api) || api.ErrorCode != 10071 {
		t.Errorf("after the term: %v, want 10071", err)
	}
}

func BenchmarkStorePut(b *testing.B) {
	server := natstest.Server(b)
	js := must(jetstream.New(natstest.Connect(b, server)))
	s := must(OpenStore(b.Context(), js, testBucket, term(7), WithCreate(1)))
	for b.Loop() {
		if _, err := s.Put(b.Context(), "k", []byte("value")); err != nil {
			b.Fatal(err)
		}
	}
}
