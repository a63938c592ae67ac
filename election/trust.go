package election

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// trust is how long the terms of one session may be trusted. Every reader compares it with the
// clock, so it expires even if the goroutine that renews it hangs.
//
// A lost session never gets its trust back: the next session has its own trust.
type trust struct {
	clock clock.Clock
	until atomic.Int64 // for terms, an instant on the holder's scale
	lease atomic.Int64 // for the session itself: what holds no role needs no more
}

func newTrust(c clock.Clock) *trust {
	b := &trust{clock: c}
	b.end()
	return b
}

func (b *trust) holds() bool { return int64(b.clock.Holder()) < b.until.Load() }

// left is for how much longer the session itself is trusted.
func (b *trust) left() time.Duration {
	until, now := b.lease.Load(), int64(b.clock.Holder())
	if until <= now {
		return -1
	}
	return time.Duration(until - now)
}

func (b *trust) extend(terms, lease record.Instant) {
	b.until.Store(int64(terms))
	b.lease.Store(int64(lease))
}

func (b *trust) end() { b.extend(math.MinInt64, math.MinInt64) }
