//go:build linux || darwin

package supervise

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzOrder: an order that is written again is the same order. A guard with an order reads the
// clock again within a glance: at once when a signal is due, and not earlier than needed when none
// is due.
func FuzzOrder(f *testing.F) {
	for _, o := range []order{
		{},
		{Term: 1, Kill: 2, Stop: 3, Release: true, Pass: 10},
		{Term: math.MaxInt64, Kill: math.MaxInt64, Stop: math.MaxInt64},
		{Term: math.MinInt64, Kill: math.MinInt64, Stop: -1},
	} {
		f.Add(o.encode(), int64(5))
		f.Add(o.encode(), int64(math.MaxInt64))
	}
	f.Fuzz(func(t *testing.T, b []byte, at int64) {
		if len(b) != orderSize { // the guard reads no less and no more
			return
		}
		var o order
		heap.Bounded(t, len(b), func() { o = decodeOrder(b) })
		if again := decodeOrder(o.encode()); again != o || !o.Release && !bytes.Equal(o.encode(), b) {
			t.Fatalf("%x is read as %+v, and that as %+v", b, o, again)
		}
		now := clock.Instant(max(at, 0)) // of a clock that counts from a start
		for _, termed := range []bool{false, true} {
			if wait := untilDue(now, o, false, termed, false); wait != time.Hour {
				t.Fatalf("%+v: nobody has ordered it, and it waits %v", o, wait)
			}
			wait := untilDue(now, o, true, termed, false)
			due := now >= o.Kill || !termed && now >= o.Term
			if wait < 0 || wait > glance || due && wait != 0 && o.Kill >= 0 && o.Term >= 0 || !due && wait == 0 {
				t.Fatalf("%+v at %d, TERM sent: %v: it waits %v", o, now, termed, wait)
			}
		}
	})
}
