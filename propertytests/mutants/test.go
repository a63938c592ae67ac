package mutants

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Test is what has to notice a mutant.
type Test struct {
	Package string   // by its path from the root of the module
	Run     string   // what of it is run, as with -test.run
	Args    []string // further arguments
	Sound   []string // those with which it is to pass as the sources are, when Args would take too long
	// Says finds in the output of a failure "what" was noticed, and "within" how much: groups of these names. It finds nothing
	// in what a test says that has passed, or that has only met too little of something.
	Says *regexp.Regexp
}

var errSurvived = errors.New("survived")

// kill wants the test to fail of a mutant.
func (k Test) kill(t *testing.T, root string, m Mutant) (death, error) {
	texts, err := m.sources(root)
	if err != nil {
		return death{}, err
	}
	out, world, failed, err := k.run(t, root, texts)
	switch {
	case err != nil:
		return death{}, err
	case !failed || strings.Contains(out, "panic: test timed out"):
		return death{}, errSurvived
	}
	d, err := k.read(m, out)
	d.World = world
	return d, err
}

// passes wants the test to pass as the sources are: of what fails anyway no mutant has died.
func (k Test) passes(t *testing.T, root string) error {
	if k.Sound != nil {
		k.Args = k.Sound
	}
	out, _, failed, err := k.run(t, root, nil)
	if err == nil && failed {
		err = fmt.Errorf("%s of %s fails without a mutant:\n%.2000s", k.Run, k.Package, out)
	}
	return err
}

// run compiles the test, with the changed files over the sources, and runs it in the directory of its package. The mark is that
// of the sources as they were compiled.
func (k Test) run(t *testing.T, root string, texts map[string]string) (said, world string, failed bool, err error) {
	dir := t.TempDir()
	binary, overlay := filepath.Join(dir, "mutant.test"), filepath.Join(dir, "overlay.json")
	if err := lay(overlay, texts); err != nil {
		return "", "", false, err
	}
	if world, err = worldOf(root, k.Package); err != nil {
		return "", "", false, err
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	build.Dir = filepath.Join(root, k.Package)
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", false, fmt.Errorf("it does not compile: %w\n%s", err, out)
	}
	if after, err := worldOf(root, k.Package); err != nil || after != world {
		world = "" // which of both it is of cannot be told
	}
	run := exec.CommandContext(t.Context(), binary, append([]string{"-test.run", k.Run}, k.Args...)...)
	run.Dir = build.Dir
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), world, true, nil
	}
	return string(out), world, false, err
}

// read finds in the output of a test that has failed what it has noticed.
func (k Test) read(m Mutant, out string) (death, error) {
	found := k.Says.FindStringSubmatch(out)
	if found == nil {
		return death{}, fmt.Errorf("died for no reason that can be read:\n%.2000s", out)
	}
	d := death{Mutant: m.Name, Of: k.mark(m), In: k.Package}
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

// mark stands for a mutant and its test: what it has died of counts as long as both are the same.
func (k Test) mark(m Mutant) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", m.Edits, k.Package, k.Run, k.Args))
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

// lay writes the changed files beside an overlay of them.
func lay(overlay string, texts map[string]string) error {
	replace := map[string]string{}
	for path, text := range texts {
		changed := filepath.Join(filepath.Dir(overlay), fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return err
		}
		replace[path] = changed
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(overlay, b, 0o600)
}
