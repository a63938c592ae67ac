package cycles

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/rolemanager/rolemanager/propertytests/campaign/testbinary"
)

// tested is the directory of the tests, where they run as under go test.
const tested = "propertytests/live"

// player plays parts of tests that are compiled once.
type player struct {
	tests   testbinary.Binary
	path    string // of the file
	present map[subject]product
}

// build compiles the tests into a folder, and takes down of which product they are.
func (p *player) build(ctx context.Context, dir string) (err error) {
	if p.present, err = products(ctx); err != nil {
		return err
	}
	p.tests = testbinary.In(dir, tested)
	if err := p.tests.Build(ctx, "-tags=realtime"); err != nil {
		return err
	}
	after, err := products(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(p.present, after) {
		return fmt.Errorf("cycles: the product has changed from %v to %v while its tests were built: begin again",
			p.present, after)
	}
	return nil
}

// bound is after how long a part has hung: a few minutes for the slowest cycle of all on a busy
// machine.
func bound(cycles int) time.Duration { return 10*time.Minute + time.Duration(cycles)*5*time.Minute }

// play continues until the file has so many cycles of a test, of the product as it is.
func (p player) play(ctx context.Context, t test, cycles, part int) error {
	lines, err := p.lines()
	if err != nil {
		return err
	}
	s, err := total(lines, t.name, p.present[t.about].mark)
	for played := s.cycles; played < cycles && err == nil; {
		var l cyclePart
		l, err = p.next(ctx, t, played, min(cycles-played, part))
		played += l.cycles
	}
	return err
}

// lines are those of the file, none if nothing is put on record.
func (p player) lines() ([]cyclePart, error) {
	if p.path == "" {
		return nil, nil
	}
	return table(p.path).Read()
}

// add puts a line on record.
func (p player) add(t test, l cyclePart) error {
	if p.path == "" {
		return nil
	}
	l.commit, l.product = p.present[t.about].commit, p.present[t.about].mark
	return table(p.path).Add(l)
}

// next plays so many cycles of a test, some having been played before, and adds its line, which
// says what has failed if the test has. Cycles of a part that is interrupted do not count.
func (p player) next(ctx context.Context, t test, before, cycles int) (l cyclePart, err error) {
	env := []string{fmt.Sprint("ROLEMANAGER_CYCLES=", cycles), fmt.Sprint("ROLEMANAGER_CYCLES_BEFORE=", before)}
	began := time.Now()
	out, err := p.tests.Play(ctx, tested, env, "-test.v", "-test.run=^"+t.name+"$",
		fmt.Sprint("-test.timeout=", bound(cycles)))
	if ctx.Err() != nil {
		return l, ctx.Err()
	}
	if err != nil {
		return l, errors.Join(fmt.Errorf("%d cycles of %s: %w\n%s", cycles, t.name, err, out), p.add(t, t.failed(out, err)))
	}
	if l, err = t.read(out); err != nil {
		return l, fmt.Errorf("%d cycles of %s: %w:\n%s", cycles, t.name, err, out)
	}
	if err := p.add(t, l); err != nil {
		return l, err
	}
	fmt.Printf("%v, in %v\n", l, time.Since(began).Round(time.Second))
	return l, nil
}
