package snapshot

import (
	"math"
	"math/bits"
)

// Walk looks at one part of a state and makes a fingerprint of it in which names and time do not
// count: names are told apart by their first mention in this part, time is relative. Which names
// those were is kept beside it.
type Walk struct {
	Sum   Sum
	Apart Sum // of what tells parts apart, but not states
	Names []Name
	Now   int64 // of the process whose part it is
	Owner uint8

	seen []uintptr
}

// Sum is a fingerprint: two lanes, so that no two of 2^40 states are taken for one.
type Sum struct{ A, B uint64 }

const (
	primeA = 0x9E3779B97F4A7C15
	primeB = 0xC2B2AE3D27D4EB4F
	primeC = 0x165667B19E3779F9
)

// Word adds a number (the mixing step is that of wyhash).
func (s *Sum) Word(x uint64) {
	hi, lo := bits.Mul64(s.A^x^primeA, primeB)
	s.A = hi ^ lo ^ bits.RotateLeft64(s.A, 23)
	hi, lo = bits.Mul64(s.B^x^primeC, primeA)
	s.B = hi ^ lo ^ bits.RotateLeft64(s.B, 41)
}

// Text adds a text.
func (s *Sum) Text(t string) {
	s.Word(uint64(len(t)))
	for ; len(t) >= 8; t = t[8:] {
		s.Word(uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56)
	}
	x := uint64(0)
	for i := range len(t) {
		x = x<<8 | uint64(t[i])
	}
	s.Word(x)
}

// Word adds a number that counts as it is.
func (w *Walk) Word(x uint64) { w.Sum.Word(x) }

// Flag adds a truth.
func (w *Walk) Flag(b bool) {
	if b {
		w.Sum.Word(1)
	} else {
		w.Sum.Word(2)
	}
}

// Name adds a name.
func (w *Walk) Name(n Name) {
	if !n.Class.owned() {
		n.Owner = 0
	}
	for i := range w.Names {
		if w.Names[i] == n {
			w.Sum.Word(uint64(i) | 1<<62)
			return
		}
	}
	w.Sum.Word(uint64(len(w.Names)) | 1<<62)
	w.Names = append(w.Names, n)
}

const (
	timeZero = iota + 1<<61
	timeNever
	timeLongAgo
)

// Instant adds a point in time, relative to now. All points further back than horizon count as the
// same.
func (w *Walk) Instant(t, horizon int64) {
	switch {
	case t == 0:
		w.Sum.Word(timeZero)
	case t == math.MaxInt64:
		w.Sum.Word(timeNever)
	case t-w.Now < -horizon || t < math.MinInt64/4:
		w.Sum.Word(timeLongAgo)
	default:
		w.Sum.Word(uint64(t - w.Now))
	}
}

// met reports whether the walk has been at an address before, and adds which one it was.
func (w *Walk) met(at uintptr) bool {
	for i, p := range w.seen {
		if p == at {
			w.Sum.Word(uint64(i) | 1<<60)
			return true
		}
	}
	w.seen = append(w.seen, at)
	w.Sum.Word(1 << 59)
	return false
}
