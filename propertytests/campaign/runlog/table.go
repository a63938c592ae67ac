package runlog

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Row is one line of a table. A pointer to T implements it.
type Row[T any] interface {
	*T
	// Cells are the places of a line's values in their order: *string, *int or *uint64.
	Cells() []any
}

// Table is a file of lines of one form.
type Table[T any, R Row[T]] struct {
	Path string
	Head []string // the first line of a new file
}

// Read is all that the file has; there may be none yet.
func (t Table[T, R]) Read() (all []T, err error) {
	f, err := os.Open(t.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Path, err)
	}
	for i, line := range lines {
		if i == 0 {
			continue
		}
		var row T
		if err := parse(line, R(&row).Cells()); err != nil {
			return nil, fmt.Errorf("%s, row %d: %w", t.Path, i+1, err)
		}
		all = append(all, row)
	}
	return all, nil
}

// Write makes the lines all that the file has.
func (t Table[T, R]) Write(all []T) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	err := w.Write(t.Head)
	for i := range all {
		err = errors.Join(err, w.Write(format(R(&all[i]).Cells())))
	}
	w.Flush()
	if err := errors.Join(err, w.Error()); err != nil {
		return err
	}
	next := t.Path + ".next"
	if err := os.WriteFile(next, text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(next, t.Path)
}

// Add appends a line, and the head before it when the file is new.
func (t Table[T, R]) Add(row T) error {
	f, err := os.OpenFile(t.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = w.Write(t.Head)
	}
	if err == nil {
		err = w.Write(format(R(&row).Cells()))
	}
	if w.Flush(); err == nil {
		_, err = f.Write(text.Bytes())
	}
	return errors.Join(err, w.Error(), f.Close())
}
