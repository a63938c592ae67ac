package fencing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// observer reads the bucket without a store.
type observer struct{ stream jetstream.Stream }

func observe(t *testing.T, srv *natsrun.Server) observer {
	t.Helper()
	js := must(jetstream.New(natstest.Connect(t, srv)))
	return observer{must(js.Stream(t.Context(), streamOf(testBucket)))}
}

// revision returns where the key was last written, 0 for never, and what.
func (o observer) revision(t *testing.T, key string) (uint64, string) {
	t.Helper()
	m, err := o.stream.GetLastMsgForSubject(t.Context(), subjectOf(testBucket, key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return m.Sequence, string(m.Data)
}

// moved waits until the key was written behind a revision.
func (o observer) moved(t *testing.T, key string, behind uint64) (revision uint64, value string) {
	t.Helper()
	natstest.Eventually(t, fmt.Sprintf("%s is written behind %d", key, behind), 5*time.Second, func() (bool, string) {
		revision, value = o.revision(t, key)
		return revision > behind, fmt.Sprintf("%q at %d", value, revision)
	})
	return revision, value
}

// The write lands and its acknowledgement does not arrive in time. Each kind of write finds that
// out, returns the revision of the one write, and does not write twice.
func TestLostAcknowledgement(t *testing.T) {
	for _, c := range []struct {
		name, before, want string
		write              func(ctx context.Context, s *Store, last uint64) (uint64, error)
	}{
		{"put", "", "new", func(ctx context.Context, s *Store, _ uint64) (uint64, error) {
			return s.Put(ctx, "k", []byte("new"))
		}},
		{"create", "", "new", func(ctx context.Context, s *Store, _ uint64) (uint64, error) {
			return s.Create(ctx, "k", []byte("new"))
		}},
		{"update", "old", "new", func(ctx context.Context, s *Store, last uint64) (uint64, error) {
			return s.Update(ctx, "k", []byte("new"), last)
		}},
		{"delete", "old", "", func(ctx context.Context, s *Store, _ uint64) (uint64, error) { return 0, s.Delete(ctx, "k") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
				link := srv.Link()
				defer link.Heal() // also when the test has ended early: what is held up would hold up the end of the connection
				s := open(t, srv, term(7), link.Options()...)
				watcher := observe(t, srv)
				var last uint64
				if c.before != "" {
					last = must(s.Put(t.Context(), "k", []byte(c.before)))
				}
				seal := s.seal
				link.Hold(natsrun.ToClient)
				var got uint64
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					got, err = c.write(t.Context(), s, last)
				}()
				landed, value := watcher.moved(t, "k", last)
				if value != c.want {
					t.Errorf("%q has landed, want %q", value, c.want)
				}
				// That the seal is renewed shows that the write was given up on; the answer to that
				// is held back too.
				watcher.moved(t, sealKey, seal)
				link.Release()
				<-done
				if err != nil || (got != landed && c.name != "delete") {
					t.Errorf("returned revision %d, %v; it has landed at %d", got, err, landed)
				}
				if again, _ := watcher.revision(t, "k"); again != landed {
					t.Errorf("it was written again, at %d after %d", again, landed)
				}
			})
		})
	}
}

// The acknowledgement is lost, and before the store can find out, another store of the term writes
// the key. It is then impossible to tell whether the first write has landed. Above all, the store
// must not write again over the other store's write.
func TestLostAcknowledgementSuperseded(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		link := srv.Link()
		defer link.Heal()
		a, b := open(t, srv, term(7), link.Options()...), open(t, srv, term(7))
		must(a.Put(t.Context(), "k", []byte("0")))
		last, seal := must(b.Put(t.Context(), "k", []byte("1"))), a.seal
		watcher := observe(t, srv)
		link.Hold(natsrun.ToClient)
		done := make(chan error, 1)
		go func() {
			_, err := a.Put(t.Context(), "k", []byte("2"))
			done <- err
		}()
		watcher.moved(t, "k", last)
		watcher.moved(t, sealKey, seal) // it was given up on
		must(b.Put(t.Context(), "k", []byte("3")))
		link.Release()
		if err := <-done; !errors.Is(err, ErrUnknown) {
			t.Errorf("the write that was overwritten: %v, want unknown", err)
		}
		wantValue(t, b, "k", "3")
	})
}

// The write and everything after it is dropped on the way to the server, and the connection breaks:
// it is written after the reconnect.
func TestLostWrite(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		link := srv.Link()
		defer link.Heal() // also when the test has ended early: what is held up would hold up the end of the connection
		s := open(t, srv, term(7), append(link.Options(), nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1))...)
		for _, write := range []func() error{
			func() error { _, err := s.Put(t.Context(), "a", []byte("v")); return err },
			func() error { _, err := s.Create(t.Context(), "b", []byte("v")); return err },
		} {
			before := link.Stats().Dropped
			link.Cut()
			done := make(chan error, 1)
			go func() { done <- write() }()
			natstest.Eventually(t, "the write is dropped", 5*time.Second, func() (bool, string) {
				return link.Stats().Dropped > before, fmt.Sprint(link.Stats())
			})
			link.Heal()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		wantValue(t, s, "a", "v")
		wantValue(t, s, "b", "v")
	})
}

// A deposed holder's write is delayed on its way until the next term has opened the store. The
// write is refused although it was sent before, and its caller gets ErrUnknown.
func TestLateWriteOfADeposedHolder(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		link := srv.Link()
		defer link.Heal() // also when the test has ended early: what is held up would hold up the end of the connection
		old := open(t, srv, term(41), link.Options()...)
		must(old.Put(t.Context(), "k", []byte("old")))
		link.Hold(natsrun.ToServer)
		waiting := link.Stats().Waiting
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := old.Put(ctx, "k", []byte("late"))
			done <- err
		}()
		natstest.Eventually(t, "the write is on its way", 5*time.Second, func() (bool, string) {
			return link.Stats().Waiting > waiting, fmt.Sprint(link.Stats())
		})
		cancel()
		var lost *UnknownError
		if err := <-done; !errors.As(err, &lost) || !errors.Is(err, ErrUnknown) || !errors.Is(err, context.Canceled) ||
			lost.Key != "k" || lost.Op != "put" {
			t.Errorf("the write that is on its way: %v, want unknown", err)
		}

		current := open(t, srv, term(57))
		before := wantValue(t, current, "k", "old")
		link.Release()
		if err := old.nc.FlushTimeout(5 * time.Second); err != nil { // everything held has been handled
			t.Fatal(err)
		}
		if after := wantValue(t, current, "k", "old"); after.Revision != before.Revision {
			t.Error("the late write has landed")
		}
		if _, err := old.Put(t.Context(), "k", []byte("late")); !errors.Is(err, ErrStale) {
			t.Errorf("the next write: %v, want stale", err)
		}
	})
}

// A write that was given up on must not land behind a later write of the same store.
func TestLateWriteOfOurOwn(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		link := srv.Link()
		defer link.Heal() // also when the test has ended early: what is held up would hold up the end of the connection
		nc := natstest.Connect(t, srv, link.Options()...)
		s, err := openOver(t, nc, term(7))
		if err != nil {
			t.Fatal(err)
		}
		must(s.Put(t.Context(), "k", []byte("0")))
		link.Hold(natsrun.ToServer)
		waiting := link.Stats().Waiting
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := s.Put(ctx, "k", []byte("1"))
			done <- err
		}()
		natstest.Eventually(t, "the write is on its way", 5*time.Second, func() (bool, string) {
			return link.Stats().Waiting > waiting, fmt.Sprint(link.Stats())
		})
		cancel()
		if err := <-done; !errors.Is(err, ErrUnknown) {
			t.Fatalf("the write that is on its way: %v, want unknown", err)
		}
		// The store continues over another path (as after a reconnect), while the first write is
		// still delayed.
		s.nc = natstest.Connect(t, srv)
		s.js = must(jetstream.New(s.nc))
		must(s.Put(t.Context(), "k", []byte("2")))
		link.Release()
		if err := nc.FlushTimeout(5 * time.Second); err != nil {
			t.Fatal(err)
		}
		wantValue(t, s, "k", "2")
	})
}

// When one store of a term renews the seal, the other store continues under the new seal.
func TestTwoStoresOfOneTerm(t *testing.T) {
	srv := natstest.Server(t)
	a, b := open(t, srv, term(7)), open(t, srv, term(7))
	if a.seal != b.seal {
		t.Errorf("the second store has sealed again: %d and %d", a.seal, b.seal)
	}
	for i := range 5 {
		a.doubtful = true
		must(a.Put(t.Context(), "a", []byte(fmt.Sprint(i))))
		must(b.Create(t.Context(), fmt.Sprint("b-", i), nil))
		b.doubtful = true
		if err := b.Delete(t.Context(), fmt.Sprint("b-", i)); err != nil {
			t.Fatal(err)
		}
		wantValue(t, a, "a", fmt.Sprint(i))
	}
	open(t, srv, term(8))
	for _, s := range []*Store{a, b} {
		if _, err := s.Put(t.Context(), "a", nil); !errors.Is(err, ErrStale) {
			t.Errorf("after the next term: %v", err)
		}
	}
}

// The acknowledgement of the opening itself is lost: our own seal there is ours, and is not written
// again.
func TestLostSeal(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		link := srv.Link()
		defer link.Heal() // also when the test has ended early: what is held up would hold up the end of the connection
		s := open(t, srv, term(6), link.Options()...)
		watcher := observe(t, srv)
		s.token = term(7)
		link.Hold(natsrun.ToClient)
		if _, v, err := s.attempt(t.Context(), s.sealing(s.seal)); v != unknown {
			t.Fatalf("without an answer: verdict %d, %v", v, err)
		}
		landed, _ := watcher.moved(t, sealKey, s.seal)
		link.Release()
		if err := s.open(t.Context()); err != nil || s.seal != landed {
			t.Errorf("opened with the seal at %d, %v; it is at %d", s.seal, err, landed)
		}
		must(s.Put(t.Context(), "k", nil))
	})
}

func TestDamagedSeal(t *testing.T) {
	t.Parallel() // it waits most of the time
	srv := natstest.Server(t)
	s := open(t, srv, term(7))
	kv := must(s.js.KeyValue(t.Context(), testBucket))
	for name, damage := range map[string]func() error{
		"overwritten": func() error { _, err := kv.Put(t.Context(), sealKey, []byte("{}")); return err },
		"purged": func() error {
			return must(s.js.Stream(t.Context(), streamOf(testBucket))).Purge(t.Context(),
				jetstream.WithPurgeSubject(subjectOf(testBucket, sealKey)))
		},
		"deleted":   func() error { return kv.Delete(t.Context(), sealKey) },
		"recreated": func() error { return s.js.DeleteKeyValue(t.Context(), testBucket) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), "k", nil); err == nil || (name != "recreated" && !errors.Is(err, ErrSeal)) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.js.DeleteKeyValue(t.Context(), testBucket); err != nil && !errors.Is(err, jetstream.ErrBucketNotFound) {
			t.Fatal(err)
		}
		if name == "recreated" {
			open(t, srv, term(3)) // the new bucket knows nothing of term 7: the old store must not write there
			if _, err := s.Put(t.Context(), "k", nil); !errors.Is(err, ErrSeal) {
				t.Errorf("in a recreated bucket: %v", err)
			}
		}
		if err := s.js.DeleteKeyValue(t.Context(), testBucket); err != nil && !errors.Is(err, jetstream.ErrBucketNotFound) {
			t.Fatal(err)
		}
		s = open(t, srv, term(7))
		kv = must(s.js.KeyValue(t.Context(), testBucket))
	}
}

// A permission that is missing looks like silence; it is named instead of being waited for.
func TestDeniedWrite(t *testing.T) {
	t.Parallel() // it waits most of the time
	srv := natstest.Server(t, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users = []*server.User{
				{Username: "all", Password: "x"},
				{
					Username: "some", Password: "x",
					Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$KV.data.secret"}}},
				},
			}
		}
	})
	s := open(t, srv, term(7), nats.UserInfo("some", "x"),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	for range 2 {
		if _, err := s.Put(t.Context(), "secret", nil); !errors.Is(err, nats.ErrPermissionViolation) ||
			errors.Is(err, ErrUnknown) {
			t.Errorf("put: %v, want the permission that is missing", err)
		}
		if _, err := s.Create(t.Context(), "secret", nil); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("create: %v, want the permission that is missing", err)
		}
	}
	must(s.Put(t.Context(), "public", nil))
}

// Terms follow each other while all paths are faulty and every holder continues to write. No write
// of an earlier term is acknowledged behind the seal of a later term. Every value at the end was
// written by the holder that it names.
func TestChaos(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		const terms, keys = 12, 4
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		type ack struct{ epoch, revision uint64 }
		var mu sync.Mutex
		var acks, seals []ack
		var unknowns, stales int
		var wg sync.WaitGroup
		running, stop := context.WithCancel(t.Context())
		defer stop()
		for epoch := uint64(1); epoch <= terms; epoch++ {
			link := srv.Link()
			s := open(t, srv, term(epoch), append(link.Options(), nats.ReconnectWait(5*time.Millisecond),
				nats.MaxReconnects(-1))...)
			mu.Lock()
			seals = append(seals, ack{epoch, s.seal})
			mu.Unlock()
			random := rand.New(rand.NewPCG(seed, epoch))
			wg.Go(func() { // the faults
				defer link.Heal()
				for running.Err() == nil {
					link.Hold([]natsrun.Direction{natsrun.ToServer, natsrun.ToClient, natsrun.Both}[random.IntN(3)])
					pauseFor(running, time.Duration(random.IntN(60))*time.Millisecond)
					if random.IntN(8) == 0 {
						link.Reset()
					}
					link.Release()
					pauseFor(running, time.Duration(random.IntN(60))*time.Millisecond)
				}
			})
			writing := rand.New(rand.NewPCG(seed, epoch+1000))
			wg.Go(func() { // the holder, which continues until it is told to stop
				for i := 0; running.Err() == nil; i++ {
					ctx, cancel := context.WithTimeout(running, time.Duration(5+writing.IntN(100))*time.Millisecond)
					revision, err := s.Put(ctx, fmt.Sprint("k", writing.IntN(keys)), []byte(fmt.Sprint(epoch)))
					cancel()
					mu.Lock()
					switch {
					case err == nil:
						acks = append(acks, ack{epoch, revision})
					case errors.Is(err, ErrStale):
						stales++
					case errors.Is(err, ErrUnknown):
						unknowns++
					}
					mu.Unlock()
					pauseFor(running, time.Millisecond) // what time a write takes is the link's doing: most take none
				}
			})
			pauseFor(running, 500*time.Millisecond)
		}
		stop()
		wg.Wait()

		last := open(t, srv, term(terms+1))
		for _, a := range acks {
			for _, seal := range seals {
				if a.epoch < seal.epoch && a.revision > seal.revision {
					t.Errorf("epoch %d has written revision %d behind the seal of epoch %d at %d", a.epoch, a.revision, seal.epoch,
						seal.revision)
				}
			}
		}
		for k := range keys {
			e, err := last.Latest(t.Context(), fmt.Sprint("k", k))
			if errors.Is(err, jetstream.ErrKeyNotFound) {
				continue
			}
			var epoch uint64
			if _, err := fmt.Sscan(string(e.Value), &epoch); err != nil {
				t.Fatal(err)
			}
			for _, seal := range seals {
				if epoch < seal.epoch && e.Revision > seal.revision {
					t.Errorf("k%d was left by epoch %d at %d, behind the seal of epoch %d at %d", k, epoch, e.Revision, seal.epoch,
						seal.revision)
				}
			}
		}
		t.Logf("%d writes acknowledged, %d unknown, %d stale", len(acks), unknowns, stales)
		if len(acks) < terms || stales == 0 || unknowns == 0 {
			t.Errorf("proved nothing: %d writes acknowledged, %d stale, %d unknown", len(acks), stales, unknowns)
		}
	})
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
