package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Edit is a file, by its path from the root of the module, a text that it holds once, and what stands there instead.
type Edit [3]string

// Mutant is the module with one rule taken out, or a model of something beside it with one condition.
type Mutant struct {
	Name  string
	Edits []Edit
	By    *Test // nil: the test of its suite
}

// sources are the texts of the changed files, by their paths.
func (m Mutant) sources(root string) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range m.Edits {
		file, before, after := e[0], e[1], e[2]
		path := filepath.Join(root, file)
		if _, read := texts[path]; !read {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
			}
			texts[path] = string(b)
		}
		if n := strings.Count(texts[path], before); n != 1 {
			return nil, fmt.Errorf("mutant %q: %s holds %d times what it replaces: %q", m.Name, file, n, before)
		}
		if before == after {
			return nil, fmt.Errorf("mutant %q changes nothing in %s", m.Name, file)
		}
		texts[path] = strings.Replace(texts[path], before, after, 1)
	}
	return texts, nil
}
