package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"
)

// line is what one range has come to. Where a test tells no virtual time, seconds is 0.
type line struct {
	what                                          string
	first, last                                   uint64 // seeds
	schedules, seconds, faults, terms, violations int
}

var head = []string{"played", "first_seed", "last_seed", "schedules", "virtual_seconds", "faults", "terms", "violations"}

func (l line) String() string {
	return fmt.Sprintf("%s, seeds %d to %d: %d schedules, %v of virtual time, %d faults, %d terms, %d violations",
		l.what, l.first, l.last, l.schedules, time.Duration(l.seconds)*time.Second, l.faults, l.terms, l.violations)
}

func (l line) cells() []string {
	cells := []string{l.what, strconv.FormatUint(l.first, 10), strconv.FormatUint(l.last, 10)}
	for _, n := range []int{l.schedules, l.seconds, l.faults, l.terms, l.violations} {
		cells = append(cells, strconv.Itoa(n))
	}
	return cells
}

// read is all that the file has; there may be none yet.
func read(path string) (all []line, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
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
		l := line{what: row[0]}
		for j, to := range []*uint64{&l.first, &l.last} {
			if *to, err = strconv.ParseUint(row[1+j], 10, 64); err != nil {
				return nil, fmt.Errorf("%s, row %d: %w", path, i+1, err)
			}
		}
		for j, to := range []*int{&l.schedules, &l.seconds, &l.faults, &l.terms, &l.violations} {
			if *to, err = strconv.Atoi(row[3+j]); err != nil {
				return nil, fmt.Errorf("%s, row %d: %w", path, i+1, err)
			}
		}
		all = append(all, l)
	}
	return all, nil
}

// add appends a line.
func add(path string, l line) error {
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
		err = w.Write(l.cells())
	}
	w.Flush()
	return errors.Join(err, w.Error(), f.Close())
}

// next is the first seed that was not played.
func next(all []line, what string) uint64 {
	seed := uint64(1)
	for _, l := range all {
		if l.what == what {
			seed = max(seed, l.last+1)
		}
	}
	return seed
}

// total is what all ranges come to.
func total(all []line, what string) line {
	sum := line{what: what, first: 1}
	for _, l := range all {
		if l.what == what {
			sum.last = max(sum.last, l.last)
			sum.schedules += l.schedules
			sum.seconds += l.seconds
			sum.faults += l.faults
			sum.terms += l.terms
			sum.violations += l.violations
		}
	}
	return sum
}
