package cycles

import (
	"fmt"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// line is one part that was played.
type line struct {
	test            string
	cycles          int
	commit, product string
	counted         string
}

// Cells are its values in the file.
func (l *line) Cells() []any { return []any{&l.test, &l.cycles, &l.commit, &l.product, &l.counted} }

func table(path string) runlog.Table[line, *line] {
	return runlog.Table[line, *line]{Path: path, Head: []string{"test", "cycles", "commit", "product", "counted"}}
}

func (l line) String() string { return fmt.Sprintf("%s: %d cycles: %s", l.test, l.cycles, l.counted) }
