package natskv

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestConditionsHoldForManyWriters: six writers on three servers replace one record while the
// leader of its stream moves. In the order of revisions, each write that was won expected either
// the write won before it, or what an unknown write has stored since. So no revision was replaced
// twice, whichever server led the stream. All promises about epochs rest on this.
func TestConditionsHoldForManyWriters(t *testing.T) {
	const moves, each = 3, 25 // the least number of wins before, between and after the moves
	t.Parallel()
	cluster := natstest.Cluster(t)
	b, err := Create(within(t), connect(t, cluster.URLs()), Config{Bucket: "b", Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	type win struct{ expected, revision uint64 }
	var (
		mu               sync.Mutex
		won              []win
		refused, unknown atomic.Int32
		writing          sync.WaitGroup
	)
	ctx, stop := context.WithCancel(t.Context())
	defer writing.Wait()
	defer stop()
	for i := range 6 {
		nc := connect(t, cluster.URL(i%cluster.Size()), nats.DontRandomize())
		w := newWriter(t, nc, b)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		writing.Go(func() {
			for expect := uint64(0); ctx.Err() == nil; {
				done := make(chan Result, 1)
				w.Submit(Write{Key: "k", Value: []byte(fmt.Sprint(i)), Expect: expect}, time.Second, func(r Result) { done <- r })
				switch r := <-done; r.Outcome {
				case Won:
					mu.Lock()
					won = append(won, win{expect, r.Revision})
					mu.Unlock()
					expect = r.Revision
					continue
				case Refused:
					refused.Add(1)
				default:
					unknown.Add(1)
				}
				// a writer that reads something older is refused once more
				if s, err := js.Stream(ctx, "KV_b"); err == nil {
					if m, err := s.GetLastMsgForSubject(ctx, "$KV.b.k"); err == nil {
						expect = m.Sequence
					}
				}
			}
		})
	}
	wins := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(won)
	}
	for n := range moves + 1 {
		before := wins()
		natstest.Eventually(t, "writes are won", 2*time.Minute, func() (bool, string) {
			now := wins()
			return now >= before+each, fmt.Sprint(now - before)
		})
		if n == moves {
			break
		}
		// the same server may be elected again
		natstest.Eventually(t, "the stream's leader moves", 5*time.Minute, func() (bool, string) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, _, err := cluster.MoveLeader(ctx, "KV_b")
			return err == nil, fmt.Sprint(err)
		})
	}
	stop()
	writing.Wait()
	slices.SortFunc(won, func(a, b win) int { return cmp.Compare(a.revision, b.revision) })
	for i, w := range won {
		if i > 0 && (w.expected < won[i-1].revision || w.revision == won[i-1].revision) || w.expected >= w.revision {
			t.Errorf("revision %d was won over %d, after %v", w.revision, w.expected, won[max(0, i-1)])
		}
	}
	if refused.Load() == 0 {
		t.Error("nothing was refused: the writers have not met")
	}
	t.Logf("%d writes won, %d refused, %d unknown", len(won), refused.Load(), unknown.Load())
}
