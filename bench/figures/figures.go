// Package figures keeps what was measured as rows of raw data: one row for each sample, with
// nothing computed from them, and rows about what was measured.
package figures

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
)

// Row is one sample.
type Row struct {
	Job    string  // what was done
	Peer   string  // by whom
	Mode   string  // under which settings
	N      int     // of how many
	Figure string  // what was measured, with its unit at the end: gap-ms
	Value  float64 // how much
	Note   string  // for readers of the raw data; also why there is no value
}

// Header is the first line of a file of rows.
var Header = []string{"job", "peer", "mode", "n", "figure", "value", "note"}

// Sheet is a file of rows that is being written. It is safe for concurrent use; each row is in the
// file when Add returns, so that what was measured survives whatever comes after.
type Sheet struct {
	mu sync.Mutex
	f  *os.File
	w  *csv.Writer
}

// Create begins a file, with a row about the commit that is measured.
func Create(path string) (*Sheet, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	s := &Sheet{f: f, w: csv.NewWriter(f)}
	return s, errors.Join(s.write(Header), s.About("", "", "commit", commit()))
}

func (s *Sheet) write(fields []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.w.Write(fields); err != nil {
		return err
	}
	s.w.Flush()
	return s.w.Error()
}

// Add appends a row.
func (s *Sheet) Add(r Row) error {
	if err := s.write([]string{
		r.Job, r.Peer, r.Mode, strconv.Itoa(r.N), r.Figure, strconv.FormatFloat(r.Value, 'g', 6, 64), r.Note,
	}); err != nil {
		return fmt.Errorf("write a row: %w", err)
	}
	return nil
}

// Close ends the file.
func (s *Sheet) Close() error { return s.f.Close() }

// Read reads a file of rows.
func Read(path string) ([]Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], Header) {
		return nil, fmt.Errorf("read %s: it does not begin with %v", path, Header)
	}
	var all []Row
	for i, l := range lines[1:] {
		n, err := strconv.Atoi(l[3])
		if err != nil {
			return nil, fmt.Errorf("read %s: row %d: %w", path, i+1, err)
		}
		v, err := strconv.ParseFloat(l[5], 64)
		if err != nil {
			return nil, fmt.Errorf("read %s: row %d: %w", path, i+1, err)
		}
		all = append(all, Row{Job: l[0], Peer: l[1], Mode: l[2], N: n, Figure: l[4], Value: v, Note: l[6]})
	}
	return all, nil
}
