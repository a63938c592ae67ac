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
	dir                      string // docs/explanation/benchmarks
	bench, elections, synced data
	tasks, reruns            data
	scale, backlog           data
	peers                    data // elections, synced, tasks and reruns
}

func (s *source) parts() map[string]*data {
	return map[string]*data{
		"bench": &s.bench, "elections": &s.elections, "synced": &s.synced, "tasks": &s.tasks,
		"reruns": &s.reruns, "scale": &s.scale, "backlog": &s.backlog,
	}
}

const unmeasured = "*Not measured yet.*\n"

// read takes in what has been measured so far.
func read(docs string) (*source, error) {
	s := &source{dir: filepath.Join(docs, "benchmarks")}
	for name, to := range s.parts() {
		rows, err := figures.Read(filepath.Join(s.dir, name+".csv"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		*to = rows
	}
	s.peers = slices.Concat(s.elections, s.synced, s.tasks, s.reruns)
	s.scale = slices.Concat(s.scale, s.backlog)
	return s, nil
}

// document writes benchmarks.md from document.md and the raw data.
func document(docs string) error {
	s, err := read(docs)
	if err != nil {
		return err
	}
	t, err := template.New("document.md").Funcs(template.FuncMap{
		"machine": s.machine, "compared": s.compared, "summary": s.summary,
		"go": s.goFigure, "runs": s.goRuns, "slowest": s.slowest, "scale": s.scaled, "largest": s.largest,
		"atMost": s.atMost, "atLeast": s.atLeast, "within": s.within, "largestMode": s.largestMode,
		"withinMode": s.withinMode, "reached": reached, "restAim": s.restAim, "flatAim": s.flatAim,
		"lead": func(figure string) string { return number(s.lead(figure)) }, "ahead": s.ahead,
		"ratios": s.ratios, "spread": s.spread, "sizes": s.sizes, "verdicts": s.verdicts, "leftOut": s.leftOut,
		"growth": s.growth, "delivered": s.delivered, "failed": s.failed, "cluster": s.cluster, "curve": s.curve,
		"dots": s.dots, "curves": s.curves, "apart": s.apart,
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

// machine is where a part was measured, and which commit.
func (s *source) machine(part string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, part+".txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSpace(unmeasured), nil
	}
	said := strings.TrimSpace(string(text))
	commit := s.parts()[part].where(figures.About, "", "", "commit", -1)
	if len(commit) == 0 {
		return said + " **Measured before it was done quite as it is described here: see the history of this file.**", err
	}
	return said + " Commit " + commit[0].Note + ".", err
}

// goFigure is one figure of a Go benchmark, in another unit where a factor is given.
func (s *source) goFigure(name, unit string, factor ...float64) string {
	return number(s.goSample(name, unit, factor).median())
}

// goRuns is the figure of a benchmark that was run several times.
func (s *source) goRuns(name, unit string, factor ...float64) string {
	found := s.goSample(name, unit, factor)
	return fmt.Sprintf("%s (median of %d, %s to %s)", number(found.median()), len(found), number(found.percentile(0)),
		number(found.percentile(1)))
}

// slowest says how many samples the 99th percentile of a benchmark is the largest; name ends
// with what its samples are of.
func (s *source) slowest(name, prefix, what string) string {
	n := s.goSample(name, prefix+"samples", nil)
	if len(n) == 0 {
		return "the slowest of the " + what
	}
	return fmt.Sprintf("the slowest of %s %s", number(n.median()), what)
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
