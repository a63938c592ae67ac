package mutants

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// death is of what a mutant has died.
type death struct {
	Mutant string
	Within string // how much it took: schedules, or moves and states; empty for a test that does one thing
	What   string // what was noticed
	Of     string // the mark of the mutant and the test
}

func (d *death) cells() []*string { return []*string{&d.Mutant, &d.Within, &d.What, &d.Of} }

var head = []string{"mutant", "within", "what", "of"}

// deaths are those on record, by the names of the mutants.
func (s Suite) deaths() (map[string]death, error) {
	f, err := os.Open(s.Record)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]death{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = len(head)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Record, err)
	}
	died := map[string]death{}
	for i, row := range rows {
		if i == 0 {
			continue
		}
		var d death
		for j, cell := range d.cells() {
			*cell = row[j]
		}
		died[d.Mutant] = d
	}
	return died, nil
}

// note puts one death on record, in the order of the list; of who is not in the list nothing stays.
func (s Suite) note(d death) error {
	died, err := s.deaths()
	if err != nil {
		return err
	}
	died[d.Mutant] = d
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write(head) // a buffer takes it; Error tells of all
	for _, m := range s.Mutants {
		if d, ok := died[m.Name]; ok {
			var row []string
			for _, cell := range d.cells() {
				row = append(row, *cell)
			}
			_ = w.Write(row)
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.Record), 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.Record, text.Bytes(), 0o644)
}
