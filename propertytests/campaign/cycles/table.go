package cycles

import (
	"fmt"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// cyclePart is one part that was played.
type cyclePart struct {
	test            string
	cycles          int
	commit, product string
	counted         string
}

// Cells are its values in the file.
func (l *cyclePart) Cells() []any {
	return []any{&l.test, &l.cycles, &l.commit, &l.product, &l.counted}
}

func table(path string) runlog.Table[cyclePart, *cyclePart] {
	return runlog.Table[cyclePart, *cyclePart]{Path: path, Head: []string{
		"test", "cycles", "commit", "product",
		"counted",
	}}
}

func (l cyclePart) String() string {
	return fmt.Sprintf("%s: %d cycles: %s", l.test, l.cycles, l.counted)
}
