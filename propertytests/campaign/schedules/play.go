package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// player plays ranges of one kind by a test that is compiled once.
type player struct {
	kind
	dir       string // of the test and all that it leaves behind
	path      string // of the file
	schedules int    // of each range
	mark      string // of the rules
}

const module = "github.com/rolemanager/rolemanager/"

func (p player) binary() string { return filepath.Join(p.dir, "play.test") }

func (p *player) build(ctx context.Context) (err error) {
	if p.mark, err = p.present(); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", p.binary(), module+p.pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", p.pkg, err, out)
	}
	return nil
}

// next plays the range behind all in the file, and adds its line. What was played of one that is interrupted does not count.
func (p player) next(ctx context.Context) error {
	lines, err := table(p.path).Read()
	if err != nil {
		return err
	}
	first := next(lines, p.name)
	args := append([]string{"-test.v", "-test.timeout=0"}, p.args(first, p.schedules)...)
	var env []string
	if p.env != nil {
		env = p.env(first, p.schedules)
	}
	what := strings.Join(slices.Concat(env, args), " ")
	cmd := exec.CommandContext(ctx, p.binary(), args...)
	cmd.Dir = p.dir
	cmd.Env = slices.Concat(os.Environ(), env, []string{"TMPDIR=" + p.dir})
	out, failed := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l, err := p.read(first, p.schedules, string(out), failed != nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	l.rules = p.mark
	if err := table(p.path).Add(l); err != nil {
		return err
	}
	fmt.Println(l)
	if failed != nil {
		return fmt.Errorf("%s: %w\n%s", what, failed, out)
	}
	return nil
}
