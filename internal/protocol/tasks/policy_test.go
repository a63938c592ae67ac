package tasks

import (
	"testing"
	"time"
)

// TestBackoff: the wait doubles with each failure up to its limit, and is spread by a tenth to both
// sides.
func TestBackoff(t *testing.T) {
	p := &Policy{Backoff: time.Second, MaxBackoff: 10 * time.Second}
	for failures, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 5: 10 * time.Second, 6: 10 * time.Second,
		1_000_000: 10 * time.Second,
	} {
		for random, of := range map[float64]float64{0: 0.9, 0.5: 1, 1: 1.1} {
			got := p.backoff(failures, func() float64 { return random })
			if want := time.Duration(of * float64(want)); got < want-time.Microsecond || got > want+time.Microsecond {
				t.Errorf("after %d failures, with %v drawn: %v, want %v", failures, random, got, want)
			}
		}
	}
	const most = 10 * 365 * 24 * time.Hour // a record's durations are below that
	long := &Policy{Backoff: time.Hour, MaxBackoff: most}
	if got := long.backoff(1000, func() float64 { return 1 }); got < most || got > most+most/9 {
		t.Errorf("up to ten years: %v", got)
	}
}
