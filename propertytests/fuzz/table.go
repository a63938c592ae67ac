package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/rolemanager/rolemanager/propertytests/ranges"
)

// line is what one part has come to, or the sum of some.
type line struct {
	target                      string
	executions, found, failures int
}

// Cells are its values in the file.
func (l *line) Cells() []any { return []any{&l.target, &l.executions, &l.found, &l.failures} }

func table(path string) ranges.Table[line, *line] {
	return ranges.Table[line, *line]{Path: path, Head: []string{"target", "executions", "new_inputs", "failures"}}
}

// sums are what the lines come to for each target.
func sums(lines []line) map[string]line {
	all := map[string]line{}
	for _, l := range lines {
		all[l.target] = l.after(all[l.target])
	}
	return all
}

// after is a part and what was played before it.
func (l line) after(sum line) line {
	return line{l.target, sum.executions + l.executions, sum.found + l.found, sum.failures + l.failures}
}

// tell writes what the file comes to.
func tell(w io.Writer, path string) error {
	lines, err := table(path).Read()
	if err != nil {
		return err
	}
	var all line
	var each []int
	for _, l := range sums(lines) {
		all = l.after(all)
		each = append(each, l.executions)
	}
	if len(each) == 0 {
		return fmt.Errorf("%s: nothing was played", path)
	}
	_, err = fmt.Fprintf(w, "%d targets: %d executions, of each %d at least and %d at most; %d new inputs, %d failures\n",
		len(each), all.executions, slices.Min(each), slices.Max(each), all.found, all.failures)
	return err
}
