//go:build realtime

package bench

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// sample is a set of durations that many goroutines add to.
type sample struct {
	mu  sync.Mutex
	all []time.Duration
}

func (s *sample) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, d)
}

// at is the smallest duration that the share p of the sample does not exceed.
func (s *sample) at(p float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.all))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func (s *sample) report(b *testing.B, name string) {
	b.ReportMetric(ms(s.at(0.50)), name+"p50-ms")
	b.ReportMetric(ms(s.at(0.99)), name+"p99-ms")
	b.ReportMetric(float64(len(s.all)), name+"samples")
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// overshoot measures how late timers are until stop is called.
func overshoot() (stop func() *sample) {
	const period = 10 * time.Millisecond
	late, end := &sample{}, make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			due := time.Now().Add(period)
			select {
			case <-time.After(period):
				late.add(time.Since(due))
			case <-end:
				return
			}
		}
	})
	return func() *sample {
		close(end)
		running.Wait()
		return late
	}
}
