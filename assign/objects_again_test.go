package assign_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestALargeOutputIsStoredAgain: its chunks are stored, and the connection is lost before anything
// of that is acknowledged. The next try is not slower for it, though the worker may not purge what
// the first has left: the object store's time limit does.
func TestALargeOutputIsStoredAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		leader(t, newNode(t, s, "a", nil))
		var w *node
		var loses atomic.Bool // the next output is stored, and nothing of that is acknowledged
		w = newNode(t, s, "w", func(a *assign.Assigner) {
			if err := assign.Handle(a, sized, func(_ context.Context, task *assign.Task[int]) ([]byte, error) {
				if loses.Load() {
					w.link.DelayDir(natsrun.ToClient, 50*time.Millisecond) // virtual: the test sees each chunk first
				}
				return pattern(task.Input), nil
			}); err != nil {
				t.Error(err)
			}
		}, workerOnly)
		c := rootClient(t, s)
		run := func(size int) (took time.Duration) {
			began := time.Now()
			p, err := assign.Submit(t.Context(), c, sized, size)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := p.Wait(t.Context()); err != nil || len(out) != size {
				t.Fatalf("%d bytes, %v\n%s", len(out), err, w.dump())
			}
			return time.Since(began)
		}
		run(100 << 10) // makes the store
		nc := natstest.Connect(t, s, nats.UserInfo("root", "p"))
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := nc.Subscribe("$KV."+objectsStream+".>", func(*nats.Msg) {
			if loses.CompareAndSwap(true, false) {
				w.link.Hold(natsrun.ToClient)
				time.AfterFunc(500*time.Millisecond, func() { // virtual
					w.link.Reset()
					w.link.Heal()
				})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Unsubscribe() }()
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		stored := func() uint64 {
			kept, err := js.Stream(t.Context(), objectsStream)
			if err != nil {
				t.Fatal(err)
			}
			return kept.CachedInfo().State.LastSeq
		}
		before := stored()
		loses.Store(true)
		took := run(600 << 10)
		if chunks := stored() - before; chunks < 4 || took > 15*time.Second { // virtual
			t.Errorf("with %d chunks in the store it took %v", chunks, took)
		}
	}, denying([]string{"$JS.API.STREAM.PURGE.>"}, nil))
}
