package mutants

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Test is what has to notice a mutant.
type Test struct {
	// Below are the folders that are searched for the test, with all folders below them. Nil is the
	// folder of the suite.
	Below []string
	// Run selects the test functions, as -test.run does. They are of one package; "." is all tests of
	// all packages found.
	Run   string
	Args  []string // further arguments
	Sound []string // the arguments with which the test passes without a mutant, where Args would take too long
	// Says finds in the output of a failure "what" was noticed, and "within" how much: groups of these
	// names. It finds nothing in the output of a test that has passed, or that has only met too little
	// of something.
	Says *regexp.Regexp
}

var testFunc = regexp.MustCompile(`^func ((?:Test|Fuzz|Example)\w*)\(`)

// packages are the folders that hold the test functions, in the order of their names.
func (k Test) packages(p place) ([]string, error) {
	folders := k.Below
	if folders == nil {
		folders = []string{p.own}
	}
	tests, err := p.tests.below(p.root, folders)
	if err != nil {
		return nil, fmt.Errorf("test %s: %w", k.Run, err)
	}
	wanted, err := regexp.Compile(k.Run)
	if err != nil {
		return nil, err
	}
	var in []string
	for file, text := range tests {
		for line := range strings.Lines(text) {
			if f := testFunc.FindStringSubmatch(line); f != nil && wanted.MatchString(f[1]) {
				in = append(in, path.Dir(file))
			}
		}
	}
	slices.Sort(in)
	in = slices.Compact(in)
	switch {
	case len(in) == 0:
		return nil, fmt.Errorf("no test function %s below %s", k.Run, strings.Join(folders, ", "))
	case len(in) > 1 && k.Run != ".":
		return nil, fmt.Errorf("test %s has to be in one package, and is in %s", k.Run, strings.Join(in, ", "))
	}
	return in, nil
}

// read finds in the output of a test that has failed what it has noticed.
func (k Test) read(m Mutant, out string) (death, error) {
	found := k.Says.FindStringSubmatch(out)
	if found == nil {
		return death{}, fmt.Errorf("died for no reason that can be read:\n%.2000s", out)
	}
	d := death{Mutant: m.Name, Of: k.mark(m)}
	for i, group := range k.Says.SubexpNames() {
		switch group {
		case "what":
			d.What = brief(found[i])
		case "within":
			d.Within = brief(found[i])
		}
	}
	return d, nil
}

// mark is the same for the same texts of a mutant and the same test of it, in whatever files and
// packages these are.
func (k Test) mark(m Mutant) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", m.Edits, k.Run, k.Args))
	return hex.EncodeToString(sum[:4])
}

// brief is the beginning of a text, on one line.
func brief(text string) string {
	const most = 160
	s := strings.Join(strings.Fields(text), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
