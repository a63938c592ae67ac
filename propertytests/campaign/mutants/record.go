package mutants

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// death is how a mutant has died.
type death struct {
	Mutant string
	Within string // how much it took: schedules, or moves and states; empty for a test that does one thing
	What   string // what was noticed
	Of     string // the mark of the mutant and the test
	In     string // the package of the test at that time; it may have moved since
	// the mark of all that the test was made of; empty where that was not noted, or changed while it
	// was compiled
	World string
}

// Cells are its values in the file.
func (d *death) Cells() []any { return []any{&d.Mutant, &d.Within, &d.What, &d.Of, &d.In, &d.World} }

func record(path string) runlog.Table[death, *death] {
	return runlog.Table[death, *death]{Path: path, Head: []string{"mutant", "within", "what", "of", "in", "world"}}
}

// deaths are those on record, by the names of the mutants.
func (s Suite) deaths() (map[string]death, error) {
	rows, err := record(s.Record).Read()
	if err != nil {
		return nil, err
	}
	died := map[string]death{}
	for _, d := range rows {
		died[d.Mutant] = d
	}
	return died, nil
}

// recording is held by the one mutant that changes a record. A process has one suite, and each
// suite its own record.
var recording sync.Mutex

// note puts one death on record, in the order of the list. Deaths of mutants that are not in the
// list are removed.
func (s Suite) note(d death) error {
	recording.Lock()
	defer recording.Unlock()
	died, err := s.deaths()
	if err != nil {
		return err
	}
	died[d.Mutant] = d
	next := record(s.Record + ".new")
	if err := os.Remove(next.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, m := range s.Mutants {
		if d, ok := died[m.Name]; ok {
			if err := next.Add(d); err != nil {
				return err
			}
		}
	}
	return os.Rename(next.Path, s.Record)
}
