package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/rolemanager/rolemanager/bench/figures"
)

//go:embed document.md
var written embed.FS

// source is the raw data, and where plots go.
type source struct {
	dir                 string // docs/benchmarks
	bench, peers, scale data
}

const unmeasured = "*Not measured yet.*\n"

// document writes benchmarks.md from document.md and the raw data.
func document(docs string) error {
	s := &source{dir: filepath.Join(docs, "benchmarks")}
	for name, to := range map[string]*data{"bench": &s.bench, "peers": &s.peers, "scale": &s.scale} {
		rows, err := figures.Read(filepath.Join(s.dir, name+".csv"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		*to = rows
	}
	t, err := template.New("document.md").Funcs(template.FuncMap{
		"go": s.goFigure, "runs": s.goRuns, "machine": s.machine, "atMost": s.atMost, "atLeast": s.atLeast, "reached": reached,
		"ratios": s.ratios, "spread": s.spread, "sizes": s.sizes, "verdicts": s.verdicts, "leftOut": s.leftOut,
		"growth": s.growth, "cluster": s.cluster, "curve": s.curve, "dots": s.dots, "curves": s.curves,
	}).ParseFS(written, "document.md")
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, nil); err != nil {
		return err
	}
	path := filepath.Join(docs, "benchmarks.md")
	log.Printf("writes %s", path)
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// machine is where a part was measured.
func (s *source) machine(part string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, part+".txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSpace(unmeasured), nil
	}
	return strings.TrimSpace(string(text)), err
}

// goFigure is one figure of a Go benchmark, in another unit where a factor is given.
func (s *source) goFigure(name, unit string, factor ...float64) string {
	return number(s.goSample(name, unit, factor).median())
}

// goRuns is the figure of a benchmark that was run several times.
func (s *source) goRuns(name, unit string, factor ...float64) string {
	found := s.goSample(name, unit, factor)
	return fmt.Sprintf("%s (median of %d, %s to %s)", number(found.median()), len(found), number(found.percentile(0)), number(found.percentile(1)))
}

// atMost and atLeast compare the median of a figure with what is aimed at.
func (s *source) atMost(name, unit string, aim float64) bool {
	return s.goSample(name, unit, nil).median() <= aim
}

func (s *source) atLeast(name, unit string, aim float64) bool {
	return s.goSample(name, unit, nil).median() >= aim
}

// reached is the verdict on all that is aimed at in one line.
func reached(all ...bool) string {
	if slices.Contains(all, false) {
		return "**missed**"
	}
	return "reached"
}

func (s *source) goSample(name, unit string, factor []float64) sample {
	found := s.bench.where("go", "", name, unit, -1).values()
	for i := range found {
		for _, f := range factor {
			found[i] *= f
		}
	}
	return found
}

// plot writes an SVG beside the raw data and returns the reference to it.
func (s *source) plot(name, title string, draw func(io.Writer) error) (string, error) {
	f, err := os.Create(filepath.Join(s.dir, name+".svg"))
	if err != nil {
		return "", err
	}
	if err := errors.Join(draw(f), f.Close()); err != nil {
		return "", err
	}
	return fmt.Sprintf("![%s](benchmarks/%s.svg)\n", title, name), nil
}
