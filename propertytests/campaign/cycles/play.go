package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// tested is the directory of the tests, where they run as under go test.
const tested = "propertytests/live"

// player plays parts of tests that are compiled once.
type player struct {
	dir     string // of the tests, and of all that they leave behind
	path    string // of the file
	present map[subject]product
}

func (p player) binary() string { return filepath.Join(p.dir, "play.test") }

// build compiles the tests, and takes down of which product they are.
func (p *player) build(ctx context.Context) (err error) {
	if p.present, err = products(ctx); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-tags", "realtime", "-o", p.binary(), module+tested).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", tested, err, out)
	}
	after, err := products(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(p.present, after) {
		return fmt.Errorf("cycles: the product has changed from %v to %v while its tests were built: begin again", p.present, after)
	}
	return nil
}

// bound is after how long a part has hung: a few minutes for the slowest cycle of all on a busy machine.
func bound(cycles int) time.Duration { return 10*time.Minute + time.Duration(cycles)*5*time.Minute }

// straggle is how long what a test has started may hold its output after it has ended.
const straggle = time.Minute

// play goes on until the file has so many cycles of a test, of the product as it is.
func (p player) play(ctx context.Context, t test, cycles, part int) error {
	lines, err := p.lines()
	if err != nil {
		return err
	}
	s, err := total(lines, t.name, p.present[t.about].mark)
	for played := s.cycles; played < cycles && err == nil; {
		var l line
		l, err = p.next(ctx, t, played, min(cycles-played, part))
		played += l.cycles
	}
	return err
}

// lines are those of the file, none if nothing is put on record.
func (p player) lines() ([]line, error) {
	if p.path == "" {
		return nil, nil
	}
	return table(p.path).Read()
}

// add puts a line on record.
func (p player) add(t test, l line) error {
	if p.path == "" {
		return nil
	}
	l.commit, l.product = p.present[t.about].commit, p.present[t.about].mark
	return table(p.path).Add(l)
}

// next plays so many cycles of a test, some having been played before, and adds its line, which says what has failed if the test has.
// What was played of a part that is interrupted does not count.
func (p player) next(ctx context.Context, t test, before, cycles int) (l line, err error) {
	cmd := exec.CommandContext(ctx, p.binary(), "-test.v", "-test.run=^"+t.name+"$", fmt.Sprint("-test.timeout=", bound(cycles)))
	cmd.Dir, cmd.WaitDelay = tested, straggle
	cmd.Env = append(os.Environ(), fmt.Sprint("ROLEMANAGER_CYCLES=", cycles), fmt.Sprint("ROLEMANAGER_CYCLES_BEFORE=", before), "TMPDIR="+p.dir)
	grouped(cmd)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return l, ctx.Err()
	}
	if err != nil {
		return l, errors.Join(fmt.Errorf("%d cycles of %s: %w\n%s", cycles, t.name, err, out), p.add(t, t.failed(string(out), err)))
	}
	if l, err = t.read(string(out)); err != nil {
		return l, fmt.Errorf("%d cycles of %s: %w:\n%s", cycles, t.name, err, out)
	}
	if err := p.add(t, l); err != nil {
		return l, err
	}
	fmt.Printf("%v, in %v\n", l, time.Since(began).Round(time.Second))
	return l, nil
}
