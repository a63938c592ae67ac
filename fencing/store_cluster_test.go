//go:build realtime

package fencing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// On three replicas: stores of one term write side by side under one seal, under which one write
// may be in flight. The stream's leader is moved meanwhile, and the next term refuses all of these
// stores.
func TestStoreOnACluster(t *testing.T) {
	c := natstest.Cluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	connect := func(i int, tok Token) (*Store, error) {
		nc, err := nats.Connect(c.URL(i), nats.MaxReconnects(-1))
		if err != nil {
			return nil, err
		}
		t.Cleanup(nc.Close)
		return OpenStore(ctx, must(jetstream.New(nc)), testBucket, tok, WithCreate(3))
	}
	var stores [3]*Store
	for i := range stores {
		stores[i] = must(connect(i, term(7)))
	}
	const each = 70
	var wg, moves sync.WaitGroup
	var unknowns, moved atomic.Int32
	writing, stop := context.WithCancel(ctx)
	moves.Go(func() { // the stream's leader
		for writing.Err() == nil {
			if _, err := stores[0].nc.RequestWithContext(writing, "$JS.API.STREAM.LEADER.STEPDOWN."+streamOf(testBucket),
				nil); err == nil {
				moved.Add(1)
			}
			pauseFor(writing, 300*time.Millisecond)
		}
	})
	must(stores[0].Create(ctx, "n", []byte{0}))
	for i, s := range stores {
		wg.Go(func() {
			for done := 0; done < each; {
				if _, err := s.Put(ctx, fmt.Sprintf("own-%d", i), []byte(fmt.Sprint(done))); err != nil {
					t.Errorf("put: %v", err)
					return
				}
				e, err := s.Latest(ctx, "n")
				if err != nil {
					t.Errorf("latest: %v", err)
					return
				}
				switch _, err = s.Update(ctx, "n", []byte{e.Value[0] + 1}, e.Revision); {
				case err == nil:
					done++
				case errors.Is(err, ErrUnknown):
					unknowns.Add(1)
				case !errors.Is(err, ErrRevision):
					t.Errorf("update: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	stop()
	moves.Wait()
	t.Logf("the leader has moved %d times, %d writes were unknown", moved.Load(), unknowns.Load())
	if n := int32(must(stores[0].Latest(ctx, "n")).Value[0]); n < 3*each || n > 3*each+unknowns.Load() {
		t.Errorf("counted to %d, want %d, and %d at most", n, 3*each, 3*each+unknowns.Load())
	}
	if moved.Load() == 0 {
		t.Error("proved nothing: the stream's leader has never moved")
	}

	next := must(connect(1, term(8)))
	for i, s := range stores {
		if _, err := s.Put(ctx, fmt.Sprintf("own-%d", i), []byte("late")); !errors.Is(err, ErrStale) {
			t.Errorf("store %d after the next term: %v", i, err)
		}
		if e, err := next.Latest(ctx, fmt.Sprintf("own-%d", i)); err != nil || string(e.Value) != fmt.Sprint(each-1) {
			t.Errorf("own-%d = %q, %v", i, e.Value, err)
		}
	}
	if keys, err := next.Keys(ctx); err != nil || len(keys) != 4 {
		t.Errorf("keys %v, %v; want own-0, own-1, own-2 and n", keys, err)
	}
}
