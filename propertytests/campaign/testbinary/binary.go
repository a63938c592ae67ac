package testbinary

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Module begins the import path of every package of this module.
const Module = "github.com/rolemanager/rolemanager/"

// straggle is how long the processes of a test may hold its output after it has ended.
const straggle = time.Minute

// Binary is the tests of one package, which is named from the root of the module.
type Binary struct{ Path, pkg string }

// In is the binary of a package in a folder, before it is built.
func In(dir, pkg string) Binary {
	return Binary{filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_")+".test"), pkg}
}

// Build compiles the tests.
func (b Binary) Build(ctx context.Context, flags ...string) error {
	args := slices.Concat([]string{"test", "-c", "-ldflags=-s -w"}, flags, []string{"-o", b.Path, Module + b.pkg})
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", b.pkg, err, out)
	}
	return nil
}

// Play runs the tests in a folder, with env beside this process's own environment, and returns what
// they say.
func (b Binary) Play(ctx context.Context, folder string, env []string, args ...string) (said string, err error) {
	cmd := exec.CommandContext(ctx, b.Path, args...)
	cmd.Dir, cmd.WaitDelay = folder, straggle
	cmd.Env = slices.Concat(os.Environ(), env, []string{"TMPDIR=" + filepath.Dir(b.Path)})
	grouped(cmd)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(out), err
}
