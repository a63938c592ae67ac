package mutants

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Run wants each mutant to die, and puts on record how. MUTANTS chooses the mutants:
//
//	1        all
//	changed  those without a death on record for their texts and their test: Fit refuses the same ones
//	old      these, and those whose deaths are of earlier sources
//	some     a few, which follow from MUTANTS_SEED; nothing is put on record
//
// Without MUTANTS it skips. Mutants run side by side, as many as the flag -parallel allows:
// GOMAXPROCS by default.
func (s Suite) Run(t *testing.T) {
	var chosen []Mutant
	which := os.Getenv("MUTANTS")
	switch which {
	case "1", "changed", "old":
		chosen = s.Mutants
	case "some":
		chosen = s.drawn(t)
	case "":
		t.Skip("set MUTANTS=1 to compile and run the mutants, or MUTANTS=changed, old or some for fewer of them")
	default:
		t.Fatalf("MUTANTS=%s: want 1, changed, old or some", which)
	}
	p, err := s.place()
	if err != nil {
		t.Fatal(err)
	}
	died, err := s.deaths()
	if err != nil {
		t.Fatal(err)
	}
	r := suiteRun{s, p, map[string]func() error{}}
	for _, m := range chosen {
		by := s.by(m)
		if mark := by.mark(Mutant{}); r.sound[mark] == nil {
			r.sound[mark] = sync.OnceValue(func() error { return by.passes(t.Context(), p) })
		}
	}
	outcomes := make([]string, len(chosen))
	t.Cleanup(func() { // all have ended by then, in any order
		for i, outcome := range outcomes {
			if outcome != "" {
				t.Logf("%s: %s", chosen[i].Name, outcome)
			}
		}
	})
	for i, m := range chosen {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if done, err := r.done(which, m, died[m.Name]); err != nil {
				t.Fatal(err)
			} else if done {
				t.Skip("its death is on record")
			}
			d, err := r.kill(t.Context(), which, m)
			if err != nil {
				outcomes[i] = "FAILED"
				t.Fatal(err)
			}
			outcomes[i] = strings.TrimPrefix(d.Within+": "+d.What, ": ")
		})
	}
}

// suiteRun is what the mutants of a suite share while they run.
type suiteRun struct {
	Suite
	place
	sound map[string]func() error // by the mark of a test: whether it passes without a mutant
}

// done reports whether the death of a mutant is on record, so that it need not run.
func (r suiteRun) done(which string, m Mutant, d death) (bool, error) {
	if which != "changed" && which != "old" || d.Of != r.by(m).mark(m) {
		return false, nil
	}
	if which == "changed" {
		return true, nil
	}
	world, err := worldOf(r.root, d.In)
	return world != "" && d.World == world, err
}

// kill wants a mutant to die, and puts on record how. A few (MUTANTS=some) have less time, and stay
// off the record. Their tests are not run without a mutant, since a run of a few follows a run of
// the tests.
func (r suiteRun) kill(ctx context.Context, which string, m Mutant) (death, error) {
	by := r.by(m)
	if which == "some" {
		by.Args = slices.Concat(by.Args, []string{"-test.timeout", soon}) // the last one counts
		return by.kill(ctx, r.place, m)
	}
	if err := r.sound[by.mark(Mutant{})](); err != nil {
		return death{}, err
	}
	d, err := by.kill(ctx, r.place, m)
	if err == nil {
		err = r.note(d)
	}
	return d, err
}
