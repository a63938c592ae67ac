package mutants

import (
	"fmt"
	"testing"
)

// TestSome: of one seed the choice is always the same, whatever the order of the list; each is
// another mutant; and of many seeds every mutant is chosen, about as often as the others.
func TestSome(t *testing.T) {
	var s, reversed Suite
	for i := range 20 {
		s.Mutants = append(s.Mutants, Mutant{Name: fmt.Sprint("mutant ", i)})
		reversed.Mutants = append(reversed.Mutants, Mutant{Name: fmt.Sprint("mutant ", 19-i)})
	}
	const seeds, n = 1000, 2
	often := map[string]int{}
	for seed := range seeds {
		chosen, again := s.some(fmt.Sprint(seed), n), reversed.some(fmt.Sprint(seed), n)
		if len(chosen) != n || chosen[0].Name == chosen[1].Name {
			t.Fatalf("seed %d: %v", seed, chosen)
		}
		for i, m := range chosen {
			if m.Name != again[i].Name {
				t.Errorf("seed %d: %q, and of the list the other way round %q", seed, m.Name, again[i].Name)
			}
			often[m.Name]++
		}
	}
	for _, m := range s.Mutants {
		if k := often[m.Name]; k < seeds*n/len(s.Mutants)/2 || k > seeds*n/len(s.Mutants)*2 {
			t.Errorf("%q is chosen %d times of %d", m.Name, k, seeds)
		}
	}
	if few := (Suite{Mutants: s.Mutants[:1]}).some("x", n); len(few) != 1 {
		t.Errorf("of one mutant: %v", few)
	}
}
