package cycles

import (
	"context"
	"fmt"
	"io"
)

// cycleSum is what the lines of a test come to.
type cycleSum struct {
	cycles  int
	counted figures
}

// total sums up a test, or what is of some product of it.
func total(lines []cyclePart, test, mark string) (s cycleSum, err error) {
	for _, l := range lines {
		if l.test != test || mark != "" && l.product != mark {
			continue
		}
		all, err := countsIn(l.counted)
		if err != nil {
			return cycleSum{}, fmt.Errorf("%s: %w", l.test, err)
		}
		s.cycles += l.cycles
		s.counted = s.counted.with(all)
	}
	return s, nil
}

func (s cycleSum) String() string {
	if s.cycles == 0 && len(s.counted) == 0 {
		return "no cycles"
	}
	return fmt.Sprintf("%d cycles: %v", s.cycles, s.counted)
}

// tell writes what the lines come to, whatever the product is now, so that a document can quote it.
func tell(w io.Writer, lines []cyclePart, of []test) error {
	for _, t := range of {
		ever, err := total(lines, t.name, "")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s: %v\n", t.name, ever); err != nil {
			return err
		}
	}
	return nil
}

// summed says what the file comes to, and what of that is of the product as it is.
func summed(ctx context.Context, w io.Writer, of, path string) error {
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
	if err := tell(w, lines, all); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nOf the product as it is:")
	for _, t := range all {
		now, err := total(lines, t.name, present[t.about].mark)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s (%s): %v\n", t.name, present[t.about].mark, now)
	}
	return nil
}
