package mutants

import (
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Edit is a text that the sources hold once, and the text that takes its place. It names no file.
type Edit [2]string

// Mutant is the module with one rule taken out, or a model of something beside it with one
// condition.
type Mutant struct {
	Name  string
	Edits []Edit
	By    *Test // nil: the test of its suite
}

var errUnchanged = errors.New("the edit changes nothing")

// changed are the texts of the files that the edits change, by their paths. Each edit sees the
// edits before it.
func (m Mutant) changed(sources tree) (tree, error) {
	now, changed := maps.Clone(sources), tree{}
	for _, e := range m.Edits {
		before, after := e[0], e[1]
		path, err := now.holding(before)
		if err == nil && before == after {
			err = errUnchanged
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %q", err, before)
		}
		now[path] = strings.Replace(now[path], before, after, 1)
		changed[path] = now[path]
	}
	return changed, nil
}
