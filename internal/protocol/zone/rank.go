package zone

import (
	"math"
	"slices"
)

// tierBits are those that the priority leaves free in a rank.
const tierBits = 20

// MaxPriority bounds the priorities of a role with zones, in both directions, so that no priority
// outweighs a tier. MaxZones is how many zones a role may name.
const (
	MaxPriority = 1<<(tierBits-1) - 1
	MaxZones    = 100
)

// Drained is the tier of the members of a drained zone, Last that of those in a zone that the role
// does not name. The better tiers are above.
const (
	Drained int32 = -1
	Last    int32 = 0
)

// Tier is the tier of a member: the higher, the sooner it leads.
func Tier(zones []string, own string, drained bool) int32 {
	if drained {
		return Drained
	}
	if i := slices.Index(zones, own); i >= 0 {
		return int32(len(zones) - i)
	}
	return Last
}

// Rank is what a member publishes as its priority: one of a better tier is above all of the others.
// Members that know no tiers go by it alone.
func Rank(tier, priority int32) int32 {
	return int32(max(int64(tier)<<tierBits+int64(priority), math.MinInt32))
}

// Priority is the priority that a rank was made of.
func Priority(tier, rank int32) int32 {
	return int32(min(int64(rank)-int64(tier)<<tierBits, math.MaxInt32))
}
