package main

import (
	"context"
	"fmt"
)

// sum is what the lines of a test come to.
type sum struct {
	cycles  int
	counted counts
}

// total sums up a test, or what is of some product of it.
func total(lines []line, test, mark string) (s sum, err error) {
	for _, l := range lines {
		if l.test != test || mark != "" && l.product != mark {
			continue
		}
		all, err := countsIn(l.counted)
		if err != nil {
			return sum{}, fmt.Errorf("%s: %w", l.test, err)
		}
		s.cycles += l.cycles
		s.counted = s.counted.with(all)
	}
	return s, nil
}

func (s sum) String() string {
	if s.cycles == 0 && len(s.counted) == 0 {
		return "no cycles"
	}
	return fmt.Sprintf("%d cycles: %v", s.cycles, s.counted)
}

// summed says what the file comes to.
func summed(ctx context.Context, of, path string) error {
	lines, err := table(path).Read()
	if err != nil {
		return err
	}
	all, err := matching(of)
	if err != nil {
		return err
	}
	present, err := products(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		ever, err := total(lines, t.name, "")
		if err != nil {
			return err
		}
		now, err := total(lines, t.name, present[t.about].mark)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n  of the product as it is (%s): %v\n", t.name, ever, present[t.about].mark, now)
	}
	return nil
}
