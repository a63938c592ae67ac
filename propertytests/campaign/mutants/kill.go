package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var errSurvived = errors.New("survived")

// place is where the suite of a package finds what it needs.
type place struct {
	root    string // of the module
	own     string // the folder of the suite, from the root
	sources tree   // the files that its mutants may change
	tests   testTrees
}

// kill wants the test to fail of a mutant.
func (k Test) kill(ctx context.Context, p place, m Mutant) (death, error) {
	changed, err := m.changed(p.sources)
	if err != nil {
		return death{}, err
	}
	packages, err := k.packages(p)
	if err != nil {
		return death{}, err
	}
	for _, pkg := range packages {
		out, world, failed, err := k.run(ctx, p.root, pkg, changed)
		switch {
		case err != nil:
			return death{}, err
		case !failed:
			continue
		case strings.Contains(out, "panic: test timed out"):
			return death{}, errSurvived
		}
		d, err := k.read(m, out)
		d.In, d.World = pkg, world
		return d, err
	}
	return death{}, errSurvived
}

// passes wants the test to pass without a mutant: a test that fails anyway has noticed nothing.
func (k Test) passes(ctx context.Context, p place) error {
	if k.Sound != nil {
		k.Args = k.Sound
	}
	packages, err := k.packages(p)
	if err != nil {
		return err
	}
	for _, pkg := range packages {
		out, _, failed, err := k.run(ctx, p.root, pkg, nil)
		if err != nil {
			return err
		}
		if failed {
			return fmt.Errorf("%s of %s fails without a mutant:\n%.2000s", k.Run, pkg, out)
		}
	}
	return nil
}

// run compiles the tests of a package, with the changed files over the sources, and runs them in
// its folder. The mark is that of the sources that were compiled.
func (k Test) run(ctx context.Context, root, pkg string, changed tree) (said, world string, failed bool, err error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", "", false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, overlay := filepath.Join(dir, "mutant.test"), filepath.Join(dir, "overlay.json")
	if err := lay(root, overlay, changed); err != nil {
		return "", "", false, err
	}
	if world, err = worldOf(root, pkg); err != nil {
		return "", "", false, err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, ".")
	build.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", false, fmt.Errorf("it does not compile: %w\n%s", err, out)
	}
	if after, err := worldOf(root, pkg); err != nil || after != world {
		world = "" // the sources changed meanwhile: which of the two were compiled is not known
	}
	run := exec.CommandContext(ctx, binary, append([]string{"-test.run", k.Run}, k.Args...)...)
	run.Env = append(os.Environ(), "CI=true") // tests that an ordinary run leaves out find bugs too
	run.Dir = build.Dir
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), world, true, nil
	}
	return string(out), world, false, err
}

// lay writes the changed files beside an overlay of them.
func lay(root, overlay string, changed tree) error {
	replace := map[string]string{}
	for path, text := range changed {
		file := filepath.FromSlash(path)
		instead := filepath.Join(filepath.Dir(overlay), fmt.Sprintf("%d_%s", len(replace), filepath.Base(file)))
		if err := os.WriteFile(instead, []byte(text), 0o600); err != nil {
			return err
		}
		replace[filepath.Join(root, file)] = instead
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(overlay, b, 0o600)
}
