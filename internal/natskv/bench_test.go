package natskv

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// BenchmarkPipelinedCreates creates 10,000 distinct keys, all in flight at once.
func BenchmarkPipelinedCreates(b *testing.B) {
	const n = 10_000
	_, nc, bucket := newBucket(b)
	w := newWriter(b, nc, bucket)
	b.ReportAllocs()
	for round := 0; b.Loop(); round++ {
		var all sync.WaitGroup
		all.Add(n)
		for i := range n {
			w.Submit(Write{Key: fmt.Sprintf("c.role.%d.%d", round, i), Value: []byte("{}")}, time.Minute, func(r Result) {
				if r.Outcome != Won {
					b.Error(r.Err)
				}
				all.Done()
			})
		}
		all.Wait()
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// BenchmarkHeartbeat sends one heartbeat after the other, and measures the round trip.
func BenchmarkHeartbeat(b *testing.B) {
	_, nc, bucket := newBucket(b)
	w := newWriter(b, nc, bucket)
	var rev uint64
	b.ReportAllocs()
	for b.Loop() {
		rev = mustWin(b, w, Write{Key: "c.lease.a", Value: make([]byte, 150), Expect: rev, TTL: time.Minute})
	}
}

// BenchmarkWriteToWatch measures the time from the write to its entry on the watch.
func BenchmarkWriteToWatch(b *testing.B) {
	_, nc, bucket := newBucket(b)
	w := newWriter(b, nc, bucket)
	seen := newWatch(b, nc, bucket, "")
	snapshot(b, seen)
	var rev uint64
	for b.Loop() {
		rev = mustWin(b, w, Write{Key: "c.lease.a", Value: make([]byte, 150), Expect: rev})
		if u := next(b, seen); u.Entries[0].Revision != rev {
			b.Fatalf("saw %+v, wrote %d", u, rev)
		}
	}
}

// BenchmarkSnapshot measures a snapshot of 10,000 keys, from the call to the mark.
func BenchmarkSnapshot(b *testing.B) {
	const n = 10_000
	_, nc, bucket := newBucket(b)
	w := newWriter(b, nc, bucket)
	var all sync.WaitGroup
	all.Add(n)
	for i := range n {
		w.Submit(Write{Key: fmt.Sprint("c.role.", i), Value: make([]byte, 150)}, time.Minute, func(Result) { all.Done() })
	}
	all.Wait()
	b.ReportAllocs()
	for b.Loop() {
		s := newWatch(b, nc, bucket, "c.>")
		if got := len(snapshot(b, s)); got != n {
			b.Fatalf("%d keys", got)
		}
		s.Close()
	}
}
