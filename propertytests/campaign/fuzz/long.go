package fuzz

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"
)

// course is a long run: who is being played, and what each has come to.
type course struct {
	path  string
	execs int // that each shall have
	marks map[string]string

	mu   sync.Mutex
	sums map[string]fuzzPart
	busy map[string]bool
}

// long continues until the file has so many executions of each target. With onlyPresent, only
// executions of the present sources count.
func long(ctx context.Context, only, path string, execs, part, parallel int, onlyPresent bool) error {
	dir, err := os.MkdirTemp("", "fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, err := marks(ctx)
	if err != nil {
		return err
	}
	all, err := matching(ctx, only)
	if err != nil {
		return err
	}
	binaries, err := build(ctx, dir, all, parallel, own, decoder)
	if err != nil {
		return err
	}
	if after, err := marks(ctx); err != nil || !maps.Equal(before, after) {
		return errors.Join(errors.New("fuzz: the sources have changed while they were built"), err)
	}
	lines, err := table(path).Read()
	if err != nil {
		return err
	}
	if onlyPresent {
		lines = present(lines, before)
	}
	c := &course{path: path, execs: execs, marks: before, sums: sums(lines), busy: map[string]bool{}}
	running, ctx := errgroup.WithContext(ctx)
	for range parallel {
		running.Go(func() error {
			for ctx.Err() == nil {
				t, is := c.next(all)
				if !is {
					return nil
				}
				if err := c.played(ctx, t, t.runFor(ctx, binaries[t.pkg.Dir], fmt.Sprint(part, "x"))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return running.Wait()
}

// next is the target that has the least, of those that nobody plays.
func (c *course) next(all []target) (next target, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range all {
		name := t.String()
		if n := c.sums[name].executions; !c.busy[name] && n < c.execs && (!is || n < c.sums[next.String()].executions) {
			next, is = t, true
		}
	}
	if is {
		c.busy[next.String()] = true
	}
	return next, is
}

// played writes a part down. A part that was interrupted does not count. A failed part counts, and
// ends the run.
func (c *course) played(ctx context.Context, t target, r outcome) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := t.String()
	delete(c.busy, name)
	if ctx.Err() != nil {
		return nil
	}
	l := fuzzPart{target: name, executions: r.executions, found: r.found, sources: c.marks[name]}
	if r.err != nil {
		l.failures = 1
	}
	if err := table(c.path).Add(l); err != nil {
		return err
	}
	c.sums[name] = l.after(c.sums[name])
	switch {
	case r.err != nil:
		return fmt.Errorf("%s: %w\n%s", t, r.err, r.said)
	case r.executions == 0:
		return fmt.Errorf("%s: %w\n%s", t, errIdle, r.said)
	}
	fmt.Printf("%s: %d executions, %d new inputs\n", name, c.sums[name].executions, c.sums[name].found)
	return nil
}
