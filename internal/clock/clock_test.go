package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSystemNeverGoesBack(t *testing.T) {
	c := System()
	last := c.Now()
	if last.Holder <= 0 || last.Observer <= 0 {
		t.Fatalf("readings must be above zero, which means never: %+v", last)
	}
	for range 10_000 {
		n := c.Now()
		if n.Holder.Before(last.Holder) || n.Observer.Before(last.Observer) {
			t.Fatalf("went back: %+v, before that %+v", n, last)
		}
		last = n
	}
}

func TestSystemClocksAgree(t *testing.T) {
	a, b := System(), System()
	first, second, third := a.Now(), b.Now(), a.Now()
	if second.Holder.Before(first.Holder) || third.Holder.Before(second.Holder) {
		t.Errorf("holder scales differ: %v %v %v", first, second, third)
	}
	if second.Observer.Before(first.Observer) || third.Observer.Before(second.Observer) {
		t.Errorf("observer scales differ: %v %v %v", first, second, third)
	}
}

func TestHolderDoesNotAllocate(t *testing.T) {
	for _, c := range []Clock{System(), monotonic{}, bubble{}} {
		if n := testing.AllocsPerRun(1000, func() { _ = c.Holder() }); n != 0 {
			t.Errorf("%T.Holder allocates %v times", c, n)
		}
	}
}

// In a bubble an hour passes at once, on both scales and exactly.
func TestSystemIsVirtualInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := System()
		if _, ok := c.(bubble); !ok && canSeePastTheRuntime() {
			t.Fatalf("System returned %T in a bubble", c)
		}
		before := c.Now()
		time.Sleep(time.Hour)
		after := c.Now()
		if d := after.Holder.Sub(before.Holder); d != time.Hour {
			t.Errorf("holder: an hour took %v", d)
		}
		if d := after.Observer.Sub(before.Observer); d != time.Hour {
			t.Errorf("observer: an hour took %v", d)
		}
		if d := c.Holder().Sub(after.Holder); d != 0 {
			t.Errorf("%v passed while nothing waited", d)
		}
	})
	if _, ok := System().(bubble); ok {
		t.Error("System is virtual outside a bubble")
	}
}

func canSeePastTheRuntime() bool {
	_, ok := kernelWall()
	return ok
}

func TestSkewedRunsAtItsRate(t *testing.T) {
	for _, tt := range []struct {
		rate float64
		want time.Duration
	}{{1, 100 * time.Second}, {1.03, 103 * time.Second}, {0.97, 97 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			c := Skewed(System(), tt.rate, time.Minute)
			before := c.Now()
			if d := before.Holder.Sub(System().Holder()); d != time.Minute {
				t.Errorf("offset %v, want 1m", d)
			}
			time.Sleep(100 * time.Second)
			after := c.Now()
			const rounding = time.Microsecond
			if d := after.Holder.Sub(before.Holder); (d - tt.want).Abs() > rounding {
				t.Errorf("rate %v: 100 s took the holder %v, want %v", tt.rate, d, tt.want)
			}
			if d := after.Observer.Sub(before.Observer); (d - tt.want).Abs() > rounding {
				t.Errorf("rate %v: 100 s took the observer %v, want %v", tt.rate, d, tt.want)
			}
			if c.Holder() != after.Holder {
				t.Error("Holder and Now().Holder differ")
			}
		})
	}
}

func BenchmarkHolder(b *testing.B) {
	c := System()
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Holder()
	}
}

func BenchmarkNow(b *testing.B) {
	c := System()
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Now()
	}
}

func BenchmarkTimeNow(b *testing.B) {
	for b.Loop() {
		_ = time.Now()
	}
}
