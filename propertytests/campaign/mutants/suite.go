package mutants

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// Suite is all mutants of one package, with the file that says how each of them has died.
type Suite struct {
	// Below are the folders whose files the mutants change, with all folders below them; tests are
	// left out. Name them generously: a file that moves from one of them to another costs nothing.
	Below   []string
	Mutants []Mutant
	By      Test   // for mutants that name no test
	Record  string // a path from the package's directory
}

// Fit wants the text of each edit to be there once, its test to be in one package, and its death to
// be on record for these texts and this test. In CI it wants each mutant to compile, too. Deaths
// may be of earlier sources, since every change of the module would else undo all of them: AgeOf
// counts these.
func (s Suite) Fit(t *testing.T) {
	p, err := s.place()
	if err != nil {
		t.Fatal(err)
	}
	died, err := s.deaths()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := s.changeAll(p)
	if err != nil {
		t.Fatal(err)
	}
	known, tested := map[string]bool{}, map[string]bool{}
	for i, m := range s.Mutants {
		if errs[i] != nil {
			t.Errorf("mutant %q: %v", m.Name, errs[i])
		}
		by := s.by(m)
		if test := fmt.Sprint(by.Below, by.Run); !tested[test] {
			tested[test] = true
			if _, err := by.packages(p); err != nil {
				t.Error(err)
			}
		}
		if known[m.Name] {
			t.Errorf("mutant %q is in the list twice", m.Name)
		}
		known[m.Name] = true
		if died[m.Name].Of != by.mark(m) {
			t.Errorf("%s does not say how mutant %q dies as it is now: run it with MUTANTS=changed", s.Record, m.Name)
		}
	}
	for name := range died {
		if !known[name] {
			t.Errorf("%s has mutant %q, which is no longer in the list", s.Record, name)
		}
	}
}

// changeAll applies each mutant to the sources, and returns why that fails, or in CI does not
// compile.
func (s Suite) changeAll(p place) (errs []error, err error) {
	changes, folders := make([]tree, len(s.Mutants)), map[string]bool{}
	errs = make([]error, len(s.Mutants))
	for i, m := range s.Mutants {
		changes[i], errs[i] = m.changed(p.sources)
		for file := range changes[i] {
			folders[path.Dir(file)] = true
		}
	}
	if !thorough.Asked() {
		return errs, nil
	}
	c, err := newCompiler(p.root, slices.Sorted(maps.Keys(folders)))
	if err != nil {
		return nil, err
	}
	for i, err := range c.checkAll(changes) {
		errs[i] = cmp.Or(errs[i], err)
	}
	return errs, nil
}

// by is the test that has to notice.
func (s Suite) by(m Mutant) Test {
	if m.By != nil {
		return *m.By
	}
	return s.By
}

// place is that of the suite whose test runs, in its own folder.
func (s Suite) place() (p place, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return p, err
	}
	if p.root, err = moduleRoot(dir); err != nil {
		return p, err
	}
	own, err := filepath.Rel(p.root, dir)
	if err != nil {
		return p, err
	}
	p.own, p.tests = filepath.ToSlash(own), testTrees{}
	p.sources, err = below(p.root, s.Below, false)
	return p, err
}

// moduleRoot is the directory of go.mod in or above a directory.
func moduleRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
	}
}
