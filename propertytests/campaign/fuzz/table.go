package fuzz

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// fuzzPart is what one part has come to, or the sum of some.
type fuzzPart struct {
	target                      string
	executions, found, failures int
	sources                     string // the mark of what the tests of its package are made of; older lines have none
}

// Cells are its values in the file.
func (l *fuzzPart) Cells() []any {
	return []any{&l.target, &l.executions, &l.found, &l.failures, &l.sources}
}

func table(path string) runlog.Table[fuzzPart, *fuzzPart] {
	return runlog.Table[fuzzPart, *fuzzPart]{Path: path, Head: []string{
		"target", "executions", "new_inputs", "failures",
		"sources",
	}}
}

// sums are what the lines come to for each target.
func sums(lines []fuzzPart) map[string]fuzzPart {
	all := map[string]fuzzPart{}
	for _, l := range lines {
		all[l.target] = l.after(all[l.target])
	}
	return all
}

// after is a part and what was played before it, of whatever sources.
func (l fuzzPart) after(sum fuzzPart) fuzzPart {
	return fuzzPart{
		target: l.target, executions: sum.executions + l.executions, found: sum.found + l.found,
		failures: sum.failures + l.failures,
	}
}

// present are those of the lines that are of the sources as they are.
func present(lines []fuzzPart, marks map[string]string) (now []fuzzPart) {
	for _, l := range lines {
		if l.sources != "" && l.sources == marks[l.target] {
			now = append(now, l)
		}
	}
	return now
}

// tell writes what the file comes to, whatever the sources are now, so that a document can quote
// it.
func tell(w io.Writer, path string) error {
	lines, err := table(path).Read()
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return fmt.Errorf("%s: nothing was played", path)
	}
	return say(w, lines)
}

func say(w io.Writer, lines []fuzzPart) error {
	var all fuzzPart
	var each []int
	for _, l := range sums(lines) {
		all = l.after(all)
		each = append(each, l.executions)
	}
	if len(each) == 0 {
		each = []int{0}
	}
	_, err := fmt.Fprintf(w, "%d targets: %d executions, of each %d at least and %d at most; %d new inputs, %d failures\n",
		len(sums(lines)), all.executions, slices.Min(each), slices.Max(each), all.found, all.failures)
	return err
}

// summed says what the file comes to, and what of that is of the sources as they are.
func summed(ctx context.Context, w io.Writer, path string) error {
	if err := tell(w, path); err != nil {
		return err
	}
	lines, err := table(path).Read()
	if err != nil {
		return err
	}
	marks, err := marks(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nOf the sources as they are, of %d targets that there are now:\n", len(marks))
	return say(w, present(lines, marks))
}
