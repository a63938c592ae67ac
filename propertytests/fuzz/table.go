package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

var head = []string{"target", "executions", "new_inputs", "failures"}

// line is what one part has come to, or the sum of some.
type line struct{ executions, found, failures int }

// read sums up what the file has of each target; there may be none yet.
func read(path string) (map[string]line, error) {
	sums := map[string]line{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return sums, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if i == 0 {
			continue
		}
		sum := sums[row[0]]
		for j, to := range []*int{&sum.executions, &sum.found, &sum.failures} {
			n, err := strconv.Atoi(row[1+j])
			if err != nil {
				return nil, fmt.Errorf("%s, row %d: %w", path, i+1, err)
			}
			*to += n
		}
		sums[row[0]] = sum
	}
	return sums, nil
}

// add appends a line.
func add(path, target string, l line) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	w := csv.NewWriter(f)
	if err == nil && info.Size() == 0 {
		err = w.Write(head)
	}
	if err == nil {
		err = w.Write([]string{target, strconv.Itoa(l.executions), strconv.Itoa(l.found), strconv.Itoa(l.failures)})
	}
	w.Flush()
	return errors.Join(err, w.Error(), f.Close())
}
