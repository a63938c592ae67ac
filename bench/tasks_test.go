//go:build realtime

package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// BenchmarkTasks: submit to outcome with many tasks under way at once; everything, the server
// included, in this process.
func BenchmarkTasks(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			at := s.host(b)
			s.enter(b, at, "a", true, working(b), nil)
			s.enter(b, at, "b", false, working(b), nil)
			s.enter(b, at, "c", false, working(b), nil)
			c := s.client(b, at)
			if err := roundTrip(b.Context(), c); err != nil {
				b.Fatal(err)
			}
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
		})
	}
}

// BenchmarkTaskLatency: submit to outcome of one task at a time, with nothing else to do. The
// process that leads runs it itself, or, elsewhere, the other one does: that one verifies what it
// is handed with the leader's public key.
func BenchmarkTaskLatency(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) { s.latency(b, working(b)) })
		b.Run(s.name+"-elsewhere", func(b *testing.B) { s.latency(b, nil) })
	}
}

func (s store) latency(b *testing.B, leader func(*assign.Assigner)) {
	at := s.host(b)
	s.enter(b, at, "a", true, leader, nil)
	s.enter(b, at, "b", false, working(b), nil)
	c := s.client(b, at)
	if err := roundTrip(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	var took sample
	for b.Loop() {
		began := time.Now()
		if err := roundTrip(b.Context(), c); err != nil {
			b.Fatal(err)
		}
		took.add(time.Since(began))
	}
	took.report(b, "")
}

// BenchmarkBacklog: a scheduler is stopped while 100,000 tasks wait; how long from the next one's
// promotion until it hands out, with all of them in its state.
func BenchmarkBacklog(b *testing.B) {
	const open, rounds = 100_000, 5
	s := store{storage: stores[1].storage, replicas: 1}
	at := s.host(b)
	first := s.enter(b, at, "a", true, nil, nil)
	c := s.client(b, at)
	submitAll(b, c, echo, []byte("0123456789abcdef"), open)
	var took sample
	last := first
	for b.Loop() {
		for range rounds {
			var heard <-chan event.TaskRecovered
			next := s.enter(b, at, "b", true, nil, func(sc *election.SessionConfig, _ *assign.Config) {
				sc.InstanceID = time.Now().Format("b-150405.000000000")
				heard = recoveries(sc)
			})
			if err := last.session.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
			r := receive(b, "a scheduler with the backlog", heard)
			if r.Open != open {
				b.Fatalf("%d tasks in the state, want %d", r.Open, open)
			}
			took.add(r.Took)
			last = next
		}
	}
	took.report(b, "ready-")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBacklogCrash is the same with a scheduler that is lost, not stopped, and a worker that
// holds some of the tasks: it is asked for them, and they are adopted, before anything is handed
// out.
func BenchmarkBacklogCrash(b *testing.B) {
	const open, held, rounds = 100_000, 512, 5
	s := store{storage: stores[1].storage, replicas: 1}
	at := s.host(b)
	brief := func(sc *election.SessionConfig, _ *assign.Config) { sc.TTL = 2 * time.Second }
	last := s.enter(b, at, "a", true, nil, brief)
	s.enter(b, at, "w", false, func(a *assign.Assigner) {
		if err := assign.Handle(a, echo, func(ctx context.Context, _ *assign.Task[[]byte]) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}); err != nil {
			b.Fatal(err)
		}
	}, brief)
	c := s.client(b, at)
	submitAll(b, c, echo, []byte("0123456789abcdef"), open)
	natstest.Eventually(b, "the worker holds what it can", patience, func() (bool, string) {
		o, err := assign.GetOverview(b.Context(), c)
		return err == nil && len(o.Workers) == 1 && o.Workers[0].Load == held, fmt.Sprintf("%+v, %v", o, err)
	})
	var took sample
	for b.Loop() {
		for range rounds {
			var heard <-chan event.TaskRecovered
			next := s.enter(b, at, "b", true, nil, func(sc *election.SessionConfig, ac *assign.Config) {
				brief(sc, ac)
				sc.InstanceID = time.Now().Format("b-150405.000000000")
				heard = recoveries(sc)
			})
			last.nc.Close()
			r := receive(b, "a scheduler with the backlog", heard)
			if r.Open != open || r.Adopted != held {
				b.Fatalf("%d tasks in the state, %d of them adopted; want %d and %d", r.Open, r.Adopted, open, held)
			}
			took.add(r.Took)
			last = next
		}
	}
	took.report(b, "ready-")
	b.ReportMetric(0, "ns/op")
}
