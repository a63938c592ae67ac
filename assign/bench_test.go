package assign_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var noop = assign.NewKind[[]byte, []byte]("noop")

// cluster starts a file-backed server, a scheduler that works, and workers, and returns a client on a connection of its own.
func cluster(b *testing.B, workers, slots int) *assign.Client {
	s := natstest.Server(b)
	for i := range workers {
		nc := natstest.Connect(b, s, nats.ReconnectBufSize(-1))
		session, err := election.NewSession(election.SessionConfig{
			Bucket: "roles", BucketAutoCreate: true, InstanceID: string(rune('a' + i)), TTL: 10 * time.Second, WorkerOnly: i > 0,
		})
		if err != nil {
			b.Fatal(err)
		}
		a, err := assign.New(session, assign.Config{Namespace: testNS, Role: testRole, Slots: slots, StreamAutoCreate: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := assign.Handle(a, noop, func(_ context.Context, t *assign.Task[[]byte]) ([]byte, error) { return t.Input, nil }); err != nil {
			b.Fatal(err)
		}
		if err := session.Open(b.Context(), nc); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = session.Close(context.Background()) })
		if i == 0 {
			e, err := session.Campaign(election.RoleConfig{Role: testRole, Lead: a.Lead})
			if err != nil {
				b.Fatal(err)
			}
			if err := e.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	c, err := assign.NewClient(natstest.Connect(b, s), assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	if err := roundTrip(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	return c
}

func roundTrip(ctx context.Context, c *assign.Client) error {
	p, err := assign.Submit(ctx, c, noop, []byte("0123456789abcdef"))
	if err != nil {
		return err
	}
	_, err = p.Wait(ctx)
	return err
}

// BenchmarkThroughput is submit to outcome, with many tasks under way at once.
func BenchmarkThroughput(b *testing.B) {
	c := cluster(b, 3, 512)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	next := make(chan struct{}, 1024)
	for range 1024 {
		all.Go(func() {
			for range next {
				if err := roundTrip(b.Context(), c); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for range b.N {
		next <- struct{}{}
	}
	close(next)
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}

// BenchmarkLatency is submit to outcome of one task at a time, with nothing else to do.
func BenchmarkLatency(b *testing.B) {
	c := cluster(b, 2, 16)
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range b.N {
		began := time.Now()
		if err := roundTrip(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
