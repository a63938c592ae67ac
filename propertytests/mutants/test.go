package mutants

import (
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
	// Says finds in the output of a failure "what" was noticed, and "within" how much: groups of these names.
	Says *regexp.Regexp
}

var errSurvived = errors.New("survived")

// kill compiles the mutant and runs the test, in a directory of its own, until it fails.
func (k Test) kill(t *testing.T, root string, m Mutant) (death, error) {
	texts, err := m.sources(root)
	if err != nil {
		return death{}, err
	}
	dir := t.TempDir()
	binary, overlay := filepath.Join(dir, "mutant.test"), filepath.Join(dir, "overlay.json")
	if err := lay(overlay, texts); err != nil {
		return death{}, err
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	build.Dir = filepath.Join(root, k.Package)
	if out, err := build.CombinedOutput(); err != nil {
		return death{}, fmt.Errorf("it does not compile: %w\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, append([]string{"-test.run", k.Run}, k.Args...)...)
	run.Dir = build.Dir
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil || strings.Contains(string(out), "panic: test timed out"):
		return death{}, errSurvived
	case !errors.As(err, &exit):
		return death{}, err
	}
	return k.read(m.Name, out)
}

// read finds in the output of a test that has failed what it has noticed.
func (k Test) read(name string, out []byte) (death, error) {
	found := k.Says.FindSubmatch(out)
	if found == nil {
		return death{}, fmt.Errorf("died for no reason that can be read:\n%.2000s", out)
	}
	d := death{Mutant: name}
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

// brief is the beginning of a text, on one line.
func brief(text []byte) string {
	const most = 160
	s := strings.Join(strings.Fields(string(text)), " ")
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
