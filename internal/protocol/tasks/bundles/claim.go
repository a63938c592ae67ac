package bundles

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// ClaimOf is the name of the claim of the block of an id, which no bundle has: a client stores two
// tasks or more in a bundle, and names it after the first of them. This is the name of the last.
//
// A client of an earlier commit stores a bundle on the condition that nothing stands at its name. A
// refusal tells such a client that an earlier attempt is stored, so no claim may stand there.
func ClaimOf(id string) string {
	block, _, _ := Split(id)
	return ID(block, Most-1)
}

// Standing is what a reading has met among the bundles of a block: bundles, empty records in the
// places of those whose members have all ended, and claims. The reading may be of a server that
// lags.
type Standing struct {
	names []string
	Last  uint64 // revision of the last one, 0: nothing stands
}

// Meets takes down the next record that stands.
func (s *Standing) Meets(name string, revision uint64) {
	s.names, s.Last = append(s.names, name), revision
}

// Fate is what became of a bundle that the store has refused.
type Fate uint8

const (
	// FateUnknown: the reading is from before the refusal.
	FateUnknown Fate = iota
	// FateStored: an earlier attempt has stored it.
	FateStored
	// FateOther: something else stood there. If a claim is stored over that, under the condition that
	// nothing has come since, the bundle is not stored, and never will be. Each of its tasks may go
	// alone then. Without that claim the bundle may be there: what stood there may have been a claim
	// that went before the bundle came.
	FateOther
)

// FateOf says what became of a bundle that was refused, by a reading since then.
func (s Standing) FateOf(bundle string) Fate {
	switch {
	case s.Last == 0:
		return FateUnknown
	case slices.Contains(s.names, bundle):
		return FateStored
	}
	return FateOther
}

// mostClaims bounds how many claims a client remembers.
const mostClaims = 1024

// Claims are the latest that a client has stored. A claim stands for a time, and the client needs
// it to stand until no bundle is under way any more. That is sure only of a claim that this client
// has stored a short time ago. Any other claim is stored again, over what stands.
type Claims struct {
	keep time.Duration
	at   map[string]claimed
}

type claimed struct {
	revision uint64
	sent     record.Instant
}

// NewClaims remembers each claim for a time. With that of a bundle that is sent again, and that of
// a message that is under way, it must be shorter than the time that a claim stands.
func NewClaims(keep time.Duration) *Claims { return &Claims{keep: keep, at: map[string]claimed{}} }

// Stored takes down that the claim of a block was stored at a revision. It was sent at an instant,
// so it stands since then at the earliest.
func (c *Claims) Stored(block string, revision uint64, sent record.Instant) {
	if len(c.at) == mostClaims {
		clear(c.at)
	}
	c.at[block] = claimed{revision, sent}
}

// Hold reports whether no bundle of a block is stored that a reading does not show, now or later: a
// claim of this client stands, and the reading is not from before it.
func (c *Claims) Hold(block string, s Standing, now record.Instant) bool {
	x, ok := c.at[block]
	return ok && s.Last >= x.revision && now.Sub(x.sent) < c.keep
}
