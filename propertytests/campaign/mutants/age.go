package mutants

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/rolemanager/rolemanager/propertytests/campaign/sources"
)

// Age says how many of the deaths on record are of the rules, the worlds and the tests as they are
// now.
type Age struct {
	Rows  int
	Older []string // the mutants whose deaths are of earlier sources, or do not name their sources
}

func (a Age) String() string {
	s := fmt.Sprintf("%d of %d deaths are of the sources as they are", a.Rows-len(a.Older), a.Rows)
	if len(a.Older) > 0 {
		s += "; of earlier ones: " + strings.Join(a.Older, ", ")
	}
	return s
}

// AgeOf compares a record with the sources of the module. A death whose test has moved is of
// earlier sources.
func AgeOf(root, file string) (a Age, err error) {
	rows, err := record(file).Read()
	if err != nil {
		return a, err
	}
	present := map[string]string{} // by the package of the test
	for _, d := range rows {
		if present[d.In] == "" && d.World != "" {
			if present[d.In], err = worldOf(root, d.In); err != nil {
				return a, fmt.Errorf("%s: mutant %q: %w", file, d.Mutant, err)
			}
		}
		if d.World == "" || d.World != present[d.In] {
			a.Older = append(a.Older, d.Mutant)
		}
	}
	a.Rows = len(rows)
	return a, nil
}

// worldOf is the mark of all that the tests of a package are made of. It is empty where the package
// is gone.
func worldOf(root, pkg string) (string, error) {
	module := os.DirFS(root)
	if own, err := fs.Glob(module, path.Join(pkg, "*.go")); err != nil || len(own) == 0 {
		return "", err
	}
	files, err := sources.Under(module, pkg)
	if err != nil {
		return "", err
	}
	return sources.Mark(module, files)
}
