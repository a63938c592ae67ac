package schedules

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/propertytests/campaign/testbinary"
)

// rangePlayer plays ranges of one kind by a test that is compiled once.
type rangePlayer struct {
	kind
	tests     testbinary.Binary
	path      string // of the file
	schedules int    // of each range
	mark      string // of the rules
}

// build compiles the test into a folder, and takes down of which rules it is.
func (p *rangePlayer) build(ctx context.Context, dir string) (err error) {
	if p.mark, err = p.present(); err != nil {
		return err
	}
	p.tests = testbinary.In(dir, p.pkg)
	return p.tests.Build(ctx)
}

// next plays the range behind all in the file, and adds its line. Schedules of a range that is
// interrupted do not count.
func (p rangePlayer) next(ctx context.Context) error {
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
	out, failed := p.tests.Play(ctx, filepath.Dir(p.tests.Path), env, args...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l, err := p.read(first, p.schedules, out, failed != nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	l.rules = p.mark
	if err := errors.Join(table(p.path).Add(l), keepUses(p.path, &l, out)); err != nil {
		return err
	}
	fmt.Println(l)
	if failed != nil {
		return fmt.Errorf("%s: %w\n%s", what, failed, out)
	}
	return nil
}
