package clock

import "time"

// Instant is a point on one scale of one process, in nanoseconds since a point without a meaning.
// Comparing instants of different scales or processes is meaningless. The zero Instant lies before
// every reading.
type Instant int64

// Add returns the instant d after i.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from j to i, which is negative when i comes first.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Before reports whether i comes before j.
func (i Instant) Before(j Instant) bool { return i < j }

// After reports whether i comes after j.
func (i Instant) After(j Instant) bool { return i > j }

// Now is one reading of both scales.
type Now struct {
	// Holder is the scale on which a holder counts against itself: it continues while the machine
	// sleeps.
	Holder Instant
	// Observer is the scale on which an observer waits for others: it may stop while the machine
	// sleeps.
	Observer Instant
}
