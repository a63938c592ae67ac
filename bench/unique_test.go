//go:build realtime

package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// Kinds of BenchmarkUnique: one that nobody works at, one that recurs, and one whose tasks fail
// once.
var (
	waits = assign.NewKind[int, int]("waits.v1")
	ticks = assign.NewKind[int, int]("ticks.v1")
	fails = assign.NewKind[int, int]("fails.v1", assign.Backoff(10*time.Millisecond, 10*time.Millisecond))
)

var errOnce = errors.New("the first attempt fails")

// BenchmarkUnique: 32 submitters of tasks with keys that are free, and beside them one that has
// tasks without keys run one by one, every other of which fails once. unique/s is what the 32
// store, and plain/s what they store without keys. beside/alone is the rate of the one beside
// them, in proportion to its rate alone. ticks/s is how many tasks a recurrence of every second has
// run meanwhile.
func BenchmarkUnique(b *testing.B) {
	const submitters, span = 32, 4 * time.Second
	for _, s := range stores[:2] {
		b.Run(s.name, func(b *testing.B) {
			at := s.host(b)
			var ticked atomic.Int64
			s.enter(b, at, "a", true, func(a *assign.Assigner) {
				working(b)(a)
				if err := errors.Join(
					assign.Handle(a, ticks, func(context.Context, *assign.Task[int]) (int, error) {
						return int(ticked.Add(1)), nil
					}),
					assign.Handle(a, fails, func(_ context.Context, t *assign.Task[int]) (int, error) {
						if t.Attempt() == 1 {
							return 0, errOnce
						}
						return 1, nil
					}),
				); err != nil {
					b.Fatal(err)
				}
			}, nil)
			alone, crowd := s.client(b, at), s.client(b, at)
			if err := assign.Recur(b.Context(), alone, ticks, "every-second", "@every 1s", 1); err != nil {
				b.Fatal(err)
			}
			one := func() (perSecond float64) {
				n, from := 0, time.Now()
				for ; time.Since(from) < span; n++ {
					if err := roundTrip(b.Context(), alone); err != nil {
						b.Fatal(err)
					}
					p, err := assign.Submit(b.Context(), alone, fails, 1)
					if err == nil {
						_, err = p.Wait(b.Context())
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				return float64(n) / time.Since(from).Seconds()
			}
			// together has the crowd submit while the one works.
			together := func(keyed bool) (perSecond, beside float64) {
				var all sync.WaitGroup
				var count, over atomic.Int64
				from := time.Now()
				for n := range submitters {
					all.Go(func() {
						for i := 0; over.Load() == 0; i++ {
							var opts []assign.SubmitOption
							if keyed {
								opts = append(opts, assign.WithUnique(fmt.Sprint(from.UnixNano(), ".", n, ".", i)))
							}
							if _, err := assign.Submit(b.Context(), crowd, waits, 1, opts...); err != nil {
								b.Error(err)
								return
							}
							count.Add(1)
						}
					})
				}
				beside = one()
				over.Store(1)
				all.Wait()
				return float64(count.Load()) / time.Since(from).Seconds(), beside
			}
			one() // until everything is warm
			var keyed, plain, beside, before, ticking float64
			for b.Loop() {
				before += one()
				run, from := ticked.Load(), time.Now()
				stored, rate := together(true)
				keyed, beside = keyed+stored, beside+rate
				ticking += float64(ticked.Load()-run) / time.Since(from).Seconds()
				stored, _ = together(false)
				plain += stored
			}
			rounds := float64(b.N)
			b.ReportMetric(keyed/rounds, "unique/s")
			b.ReportMetric(plain/rounds, "plain/s")
			b.ReportMetric(beside/before, "beside/alone")
			b.ReportMetric(ticking/rounds, "ticks/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
