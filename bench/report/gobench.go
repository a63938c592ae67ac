package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/bench/figures"
)

var processors = regexp.MustCompile(`-\d+$`)

// benchmarks reads what go test -bench prints: a row for each figure of each benchmark, whose name
// is the mode.
func benchmarks(r io.Reader, each func(figures.Row) error) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			continue // a line that the benchmark itself has printed
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), "")
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return fmt.Errorf("read %q: %w", lines.Text(), err)
			}
			if err := each(figures.Row{Job: "go", Peer: "rolemanager", Mode: name, N: n, Figure: f[i+1], Value: v}); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}
