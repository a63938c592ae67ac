package mutants

import (
	"bytes"
	"crypto/sha256"
	"os"
	"slices"
	"testing"
)

// MUTANTS=some takes this number of mutants of each suite, and each has to die this soon.
const (
	few  = 1
	soon = "4m" // the last one of tasksim takes a minute
)

// drawn are the few mutants that follow from MUTANTS_SEED.
func (s Suite) drawn(t *testing.T) []Mutant {
	seed := os.Getenv("MUTANTS_SEED")
	if seed == "" {
		t.Fatal("MUTANTS=some wants MUTANTS_SEED, a text from which the mutants follow, such as the hash of the commit")
	}
	return s.some(seed, few)
}

// some are n of the mutants: always the same for one seed, and for another seed any mutants with
// the same chance.
func (s Suite) some(seed string, n int) []Mutant {
	place := func(m Mutant) []byte {
		sum := sha256.Sum256([]byte(seed + "\n" + m.Name))
		return sum[:]
	}
	drawn := slices.SortedFunc(slices.Values(s.Mutants),
		func(a, b Mutant) int { return bytes.Compare(place(a), place(b)) })
	return drawn[:min(n, len(drawn))]
}
