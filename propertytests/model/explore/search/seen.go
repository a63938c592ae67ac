package search

// seen is the set of the fingerprints of all states found so far, open addressing over 64 bits
// each. With 2^24 states two of them share 64 bits with a chance below 2^-17; then one of them is
// not looked at.
type seen struct {
	slots []uint64
	zero  bool // the fingerprint 0, which marks what is free
	count int
}

func newSeen() *seen { return &seen{slots: make([]uint64, 1<<16)} }

// add reports whether a fingerprint is new.
func (s *seen) add(sum uint64) bool {
	if sum == 0 {
		fresh := !s.zero
		if s.zero = true; fresh {
			s.count++
		}
		return fresh
	}
	if s.count*4 >= len(s.slots)*3 {
		s.grow()
	}
	if !s.put(sum) {
		return false
	}
	s.count++
	return true
}

func (s *seen) put(sum uint64) bool {
	mask := uint64(len(s.slots) - 1)
	for i := sum & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case 0:
			s.slots[i] = sum
			return true
		case sum:
			return false
		}
	}
}

func (s *seen) grow() {
	old := s.slots
	s.slots = make([]uint64, 2*len(old))
	for _, sum := range old {
		if sum != 0 {
			s.put(sum)
		}
	}
}
