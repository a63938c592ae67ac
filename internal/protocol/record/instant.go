package record

import "time"

// Instant is a point on one time scale of one process, in nanoseconds. Instants of different scales
// or processes cannot be compared, and no Instant is ever written to a record.
type Instant int64

// Never is later than every other instant.
const Never = Instant(1<<63 - 1)

// Add returns the instant d after t.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }

// Sub returns the time that passed from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Now is the present on the two scales of a process.
//
// A holder must not trust its lease too long, so its scale runs through a suspended machine; an
// observer must not act too early, so its scale may stand still meanwhile. Between any two readings
// Holder has moved at least as far as Observer.
type Now struct {
	Holder   Instant // decides how long this process trusts its own session
	Observer Instant // decides how long this process has watched somebody else
}
