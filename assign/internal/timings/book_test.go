package timings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

// TestPercentiles: they are right to 7 %, from less than a millisecond to days.
func TestPercentiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, scale := range []time.Duration{time.Millisecond, time.Second, time.Hour, 100 * time.Hour} {
		b, now := New(), time.Unix(1e9, 0)
		var all []time.Duration
		for range 5000 {
			d := time.Duration(random.ExpFloat64() * float64(scale))
			all = append(all, d)
			b.Waited(now, "k", d)
		}
		slices.Sort(all)
		waited, ran := b.Of(now, "k")
		if waited.Count != len(all) || ran.Count != 0 {
			t.Errorf("%+v, %+v", waited, ran)
		}
		for _, c := range []struct{ got, want time.Duration }{
			{waited.P50, all[len(all)/2-1]}, {waited.P99, all[len(all)*99/100-1]},
		} {
			if off := (c.got - c.want).Abs(); off > c.want*7/100+first {
				t.Errorf("%v: got %v, want %v", scale, c.got, c.want)
			}
		}
	}
	var h histogram
	for _, d := range []time.Duration{-1, 0, first - 1, first, 2 * first, 1 << 62} {
		h.add(d)
	}
	if h.in[0] != 3 || h.in[1] != 1 || h.in[1+steps] != 1 || h.in[buckets-1] != 1 {
		t.Error(h)
	}
}

// TestOldTimesLeave: times are told for five to ten minutes, and a kind without any is forgotten.
func TestOldTimesLeave(t *testing.T) {
	b, now := New(), time.Unix(1e9, 0)
	b.Ran(now, "k", time.Second)
	for _, c := range []struct {
		after time.Duration
		count int
	}{{half - 1, 1}, {half, 1}, {2*half - 1, 1}, {2 * half, 0}} {
		if _, ran := b.Of(now.Add(c.after), "k"); ran.Count != c.count {
			t.Errorf("after %v: %+v", c.after, ran)
		}
	}
	if len(b.kinds) != 0 {
		t.Error("a kind without times is kept")
	}
	b.Ran(now.Add(2*half), "k", time.Second)
	if _, ran := b.Of(now.Add(5*half), "k"); ran.Count != 0 {
		t.Errorf("after a pause: %+v", ran)
	}
}

// TestKindsAreBounded: of many kinds those are kept that were noted last.
func TestKindsAreBounded(t *testing.T) {
	b, now := New(), time.Unix(1e9, 0)
	for i := range 2 * MaxKinds {
		b.Waited(now, fmt.Sprint(i), time.Second)
		b.Waited(now, "always", time.Second)
	}
	if names := b.Kinds(now); len(names) != MaxKinds || !slices.IsSorted(names) {
		t.Error(names)
	}
	if len(b.kinds) != MaxKinds || b.kinds["always"] == nil || b.kinds["0"] != nil {
		t.Errorf("%d kinds", len(b.kinds))
	}
	if size := unsafe.Sizeof(times{}); size > 5<<10 {
		t.Errorf("a kind takes %d bytes", size)
	}
}
