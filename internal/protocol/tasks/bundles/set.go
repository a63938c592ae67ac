package bundles

import "math/bits"

// Set is a set of members by their places in a bundle: one bit for each.
type Set []byte

// NewSet is an empty set for so many members.
func NewSet(size int) Set { return make(Set, (size+7)/8) }

// Has reports whether a member is in the set.
func (s Set) Has(place int) bool { return place/8 < len(s) && s[place/8]&(1<<(place%8)) != 0 }

// Add puts a member into the set. It reports whether it was not there.
func (s Set) Add(place int) bool {
	if s.Has(place) {
		return false
	}
	s[place/8] |= 1 << (place % 8)
	return true
}

// Len is how many members are in the set.
func (s Set) Len() (n int) {
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}
