//go:build realtime

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
)

// BenchmarkMember: what one more session costs a process at rest, its connection included. They are
// worker-only, so none sees another: what a candidate keeps of each other one grows with their
// number, and is measured by scale.
func BenchmarkMember(b *testing.B) {
	const few, many = 10, 210
	url := leader(b)
	for b.Loop() {
		heap, goroutines := sessions(b, url, few)
		more, moreGoroutines := sessions(b, url, many)
		b.ReportMetric((float64(more)-float64(heap))/(many-few), "bytes/member")
		b.ReportMetric(float64(moreGoroutines-goroutines)/(many-few), "goroutines/member")
	}
	b.ReportMetric(0, "ns/op")
}

// sessions opens sessions, and closes them when it has measured what they cost.
func sessions(b *testing.B, url string, n int) (heap uint64, goroutines int) {
	b.Helper()
	all := make([]*election.Session, n)
	for i := range all {
		nc, err := nats.Connect(url)
		if err != nil {
			b.Fatal(err)
		}
		defer nc.Close()
		if all[i], err = election.NewSession(election.SessionConfig{
			Bucket: "members", BucketAutoCreate: true, InstanceID: fmt.Sprint("member-", i), WorkerOnly: true, TTL: time.Second,
		}); err != nil {
			b.Fatal(err)
		}
		if err := all[i].Open(b.Context(), nc); err != nil {
			b.Fatal(err)
		}
	}
	heap, goroutines = atRest(5 * time.Second) // an idle heartbeat, and more
	for _, s := range all {
		if err := s.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}
	return heap, goroutines
}
