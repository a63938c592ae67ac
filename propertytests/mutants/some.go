package mutants

import (
	"bytes"
	"crypto/sha256"
	"os"
	"slices"
	"testing"
)

// MUTANTS=some takes so many mutants of each suite, and each has to die so soon.
const (
	few  = 2
	soon = "4m" // the last one of tasksim takes a minute
)

// runSome wants a few mutants to die. Which follows from MUTANTS_SEED. Nothing is put on record, and that the tests pass as the
// sources are is not asked: whoever runs a few has just run the tests.
func (s Suite) runSome(t *testing.T) {
	seed := os.Getenv("MUTANTS_SEED")
	if seed == "" {
		t.Fatal("MUTANTS=some wants MUTANTS_SEED: a text from which follows which they are, such as the hash of the commit")
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.some(seed, few) {
		t.Run(dashed(m.Name), func(t *testing.T) {
			by := s.by(m)
			by.Args = slices.Concat(by.Args, []string{"-test.timeout", soon}) // the last one counts
			d, err := by.kill(t, root, m)
			if err != nil {
				t.Fatalf("mutant %q: %v", m.Name, err)
			}
			t.Logf("%s: %s", d.Within, d.What)
		})
	}
}

// some are n of the mutants: always the same of one seed, and of another one as likely any others.
func (s Suite) some(seed string, n int) []Mutant {
	place := func(m Mutant) []byte {
		sum := sha256.Sum256([]byte(seed + "\n" + m.Name))
		return sum[:]
	}
	drawn := slices.SortedFunc(slices.Values(s.Mutants), func(a, b Mutant) int { return bytes.Compare(place(a), place(b)) })
	return drawn[:min(n, len(drawn))]
}
