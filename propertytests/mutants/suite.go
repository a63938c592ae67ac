package mutants

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Suite is all mutants of one package, with the file that says of what they have died.
type Suite struct {
	Mutants []Mutant
	By      Test   // for those that name none
	Record  string // a path from the package's directory
}

// Run wants each mutant to die, and puts on record of what. It skips without MUTANTS=1; with MUTANTS=old it leaves out those whose
// deaths are on record and of the sources as they are. MUTANTS=some is a few, of which nothing is put on record.
func (s Suite) Run(t *testing.T) {
	switch which := os.Getenv("MUTANTS"); which {
	case "1", "old":
	case "some":
		s.runSome(t)
		return
	case "":
		t.Skip("set MUTANTS=1 to compile and run the mutants, MUTANTS=old for those whose deaths are of earlier sources, or MUTANTS=some for a few")
	default:
		t.Fatalf("MUTANTS=%s: want 1, old or some", which)
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	sound := map[string]bool{} // tests that pass without a mutant
	for _, m := range s.Mutants {
		t.Run(dashed(m.Name), func(t *testing.T) {
			by := s.by(m)
			if os.Getenv("MUTANTS") == "old" {
				if present, err := s.present(root, m); err != nil {
					t.Fatal(err)
				} else if present {
					t.Skip("its death is on record, and of the sources as they are")
				}
			}
			if unchanged := by.mark(Mutant{}); !sound[unchanged] {
				if err := by.passes(t, root); err != nil {
					t.Fatal(err)
				}
				sound[unchanged] = true
			}
			d, err := by.kill(t, root, m)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s", d.Within, d.What)
			if err := s.note(d); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Fit wants what each mutant replaces to be there, and that it is on record of what each has died, as it is now. Deaths may be of
// earlier rules and worlds, since every change of the module's would else undo them all: Fit says how many are, and of which.
func (s Suite) Fit(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	died, err := s.deaths()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range s.Mutants {
		if _, err := m.sources(root); err != nil {
			t.Error(err)
		}
		if known[m.Name] {
			t.Errorf("mutant %q stands in the list twice", m.Name)
		}
		known[m.Name] = true
		if d, ok := died[m.Name]; !ok || d.Of != s.by(m).mark(m) {
			t.Errorf("%s does not say of what mutant %q, as it is, has died: run it with MUTANTS=1", s.Record, m.Name)
		}
	}
	for name := range died {
		if !known[name] {
			t.Errorf("%s has mutant %q, which is in the list no more", s.Record, name)
		}
	}
	age, err := AgeOf(root, s.Record)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %v", s.Record, age)
}

// dashed is the name of a mutant's test.
func dashed(name string) string { return strings.ReplaceAll(name, " ", "-") }

// present reports whether the death of a mutant, as it is, is on record, and of the sources as they are.
func (s Suite) present(root string, m Mutant) (bool, error) {
	died, err := s.deaths()
	if err != nil {
		return false, err
	}
	world, err := worldOf(root, s.by(m).Package)
	d := died[m.Name]
	return d.Of == s.by(m).mark(m) && d.World == world, err
}

// by is the test that has to notice.
func (s Suite) by(m Mutant) Test {
	if m.By != nil {
		return *m.By
	}
	return s.By
}

// moduleRoot is the directory of go.mod above the one that a test runs in.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
		dir = above
	}
}
