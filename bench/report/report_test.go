package main

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/bench/figures"
)

func TestExponentsOfPowers(t *testing.T) {
	for _, power := range []float64{0, 1, 2} {
		var xs, ys []float64
		for _, n := range []float64{1, 10, 100, 1000} {
			xs, ys = append(xs, n), append(ys, 7*math.Pow(n, power))
		}
		whole, last, bends := exponents(xs, ys)
		if math.Abs(whole-power) > 1e-9 || math.Abs(last-power) > 1e-9 || bends != "–" {
			t.Errorf("power %v: %v, %v, bends at %s", power, whole, last, bends)
		}
	}
	// Flat, then linear: it bends where it begins to rise.
	_, last, bends := exponents([]float64{1, 10, 100, 1000}, []float64{5, 5, 5, 50})
	if math.Abs(last-1) > 1e-9 || bends != "100" {
		t.Errorf("last %v, bends at %s", last, bends)
	}
	if whole, _, _ := exponents([]float64{1, 10}, []float64{0, 3}); !math.IsNaN(whole) {
		t.Errorf("one point has the exponent %v", whole)
	}
}

func TestGoBenchmarksAreRead(t *testing.T) {
	text := `goos: linux
BenchmarkCrash-2   	       1	         0 ns/op	       104.0 crashes	       998.3 p99-ms
BenchmarkTasks/file-2         	  120000	     45000 ns/op	     22222 tasks/s
Benchmark says something
PASS
`
	var rows data
	if err := benchmarks(strings.NewReader(text), func(r figures.Row) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s := &source{bench: rows}
	for want, got := range map[string]string{
		"998": s.goFigure("Crash", "p99-ms"), "22,222": s.goFigure("Tasks/file", "tasks/s"),
		"998,300": s.goFigure("Crash", "p99-ms", 1000), "–": s.goFigure("Tasks", "tasks/s"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var s sample
	for i := range 100 {
		s = append(s, float64(99-i))
	}
	if s.median() != 49.5 || s.worst() != 99 || slices.IsSorted(s) {
		t.Errorf("median %v, worst %v", s.median(), s.worst())
	}
	if m := s[1:].median(); m != 49 {
		t.Errorf("the one in the middle is %v", m)
	}
	if !math.IsNaN(sample{}.median()) || !math.IsNaN(s[1:].worst()) {
		t.Error("nothing has a median, or 99 values a 99th percentile")
	}
}

func TestRatios(t *testing.T) {
	row := func(peer string, n int, v float64, note string) figures.Row {
		return figures.Row{Job: "j", Peer: peer, N: n, Figure: "f", Value: v, Note: note}
	}
	s := &source{peers: data{
		row(ours, 1, 2, ""), row(ours, 10, 4, ""), row("twice", 1, 4, ""), row("twice", 10, 12, ""),
		row("early", 1, -5, ""), row("late", 1, 20, "not within 20s"), row("other", 7, 1, ""),
	}}
	for peer, want := range map[string]string{
		"twice": "3 × (10)", "early": "-5 : 2", "late": "> 10 ×", "other": "–", "nobody": "–",
	} {
		if got := s.ratio("j", "", "f", peer); got != want {
			t.Errorf("%s: %s, want %s", peer, got, want)
		}
	}
}

// The document can be written at any time, from whatever is there; no place of it is left to
// chance.
func TestDocumentIsWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "benchmarks"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func() string {
		t.Helper()
		if err := document(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "benchmarks.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := write(); !strings.Contains(text, strings.TrimSpace(unmeasured)) || strings.Contains(text, "NaN") {
		t.Error("without data it does not say that nothing is measured")
	}
	fill := func(name string, rows ...figures.Row) {
		t.Helper()
		s, err := figures.Create(filepath.Join(dir, "benchmarks", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if err := s.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fill("elections.csv",
		figures.Row{Job: "crash", Peer: ours, Mode: "TTL 4s", N: 1, Figure: "failover-ms", Value: 3900},
		figures.Row{Job: "crash", Peer: "etcd", Mode: "TTL 4s", N: 1, Figure: "failover-ms", Value: 7800},
		figures.Row{Job: "rest", Peer: ours, Mode: "TTL 4s", N: 1, Figure: "messages/s", Value: 8},
		figures.Row{Job: "throughput", Peer: "asynq", Figure: "left-out", Note: "redis-server: not installed"},
		figures.Row{Job: "mass", Peer: ours, N: 1000, Figure: "from-death-ms", Value: 40},
		figures.Row{Job: "mass", Peer: ours, N: 1000, Figure: "from-death-ms", Value: 60},
		figures.Row{Job: figures.About, Peer: "etcd", Figure: "version", Note: "v3"},
		figures.Row{Job: figures.About, Peer: "etcd", Mode: "TTL 4s", Figure: "settings", Note: "a session"},
		figures.Row{Job: figures.About, Peer: "etcd", Mode: "TTL 1s", Figure: "settings", Note: "a session"},
		figures.Row{Job: figures.About, Peer: ours, Mode: "tuned", Figure: "settings", Note: "TTL 2s"})
	fill("tasks.csv",
		figures.Row{Job: "throughput", Peer: ours, Mode: "buffered", N: 9, Figure: "tasks/s", Value: 3000},
		figures.Row{Job: "throughput", Peer: "river", Mode: "buffered", N: 9, Figure: "tasks/s", Value: 1000},
		figures.Row{Job: "throughput", Peer: "asynq", Mode: "buffered", N: 9, Figure: "tasks/s", Value: 1500},
		figures.Row{Job: "throughput", Peer: ours, Mode: "buffered", N: 9, Figure: "tasks/s-batch", Value: 3000},
		figures.Row{Job: "throughput", Peer: "river", Mode: "buffered", N: 9, Figure: "tasks/s-batch", Value: 4000})
	fill("scale.csv",
		figures.Row{Job: "members", N: 10, Figure: "messages-out/s", Value: 100},
		figures.Row{Job: "members", N: 100, Figure: "messages-out/s", Value: 10_000},
		figures.Row{Job: "members", N: 100, Figure: "writes/s", Value: 50.5},
		figures.Row{Job: figures.About, Mode: "members", Figure: "leader-beats/s", Value: 0.5},
		figures.Row{Job: "members", N: 10, Figure: "writes/s", Value: 60},
		figures.Row{Job: "members", N: 100, Figure: "messages-in/s", Value: 60},
		figures.Row{Job: "workers", N: 100, Figure: "writes/s", Value: 50.5})
	text := write()
	for _, want := range []string{
		"| 2 ×", "crash.svg", "members.svg", "redis-server: not installed", "| messages-out/s | 100 | 10,000 | 2 | 2 |",
		"| 202 |",
		"| etcd | v3 | TTL 4s, TTL 1s | a session |", "| rolemanager | this commit | tuned | TTL 2s |",
		"| 60 (of 2) / – ms | ≤ 50 ms | **missed** |",
		"100 candidates for one role | 50.5 a second (60 messages to the server in all) | ≤ leaders ÷ heartbeat + 50/s = " +
			"50.5/s | reached |",
		"100 workers | 50.5 a second (– messages to the server in all) | ≤ leaders ÷ heartbeat + 50/s = 50/s | **missed** |",
		" allocations | ≤ 1.25 ×, none | – |",
		"| 2 / 0.75 | > 1 | **missed** |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, name := range []string{"crash.svg", "members.svg"} {
		svg, err := os.ReadFile(filepath.Join(dir, "benchmarks", name))
		if err != nil || !strings.HasSuffix(string(svg), "</svg>\n") || strings.Contains(string(svg), "NaN") {
			t.Errorf("%s: %v\n%s", name, err, svg)
		}
	}
}

// The figures in the README and in the document follow from the raw data beside it: go run
// ./bench/report -render.
func TestFiguresAreOfTheRawData(t *testing.T) {
	docs := filepath.Join("..", "..", "docs", "explanation")
	s, err := read(docs)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.withFigures(string(old)); err != nil || text != string(old) {
		t.Errorf("the README has other figures than the raw data: render it again (%v)", err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(filepath.Join(copied, "benchmarks"), os.DirFS(filepath.Join(docs, "benchmarks"))); err != nil {
		t.Fatal(err)
	}
	if err := document(copied); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadFile(filepath.Join(copied, "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	if old, err := os.ReadFile(filepath.Join(docs, "benchmarks.md")); err != nil || string(old) != string(fresh) {
		t.Errorf("docs/explanation/benchmarks.md differs from the raw data and its template: render it again (%v)", err)
	}
}

func TestReadmeFigures(t *testing.T) {
	row := func(peer, job, mode, figure string, n int, v float64, note string) figures.Row {
		return figures.Row{Job: job, Peer: peer, Mode: mode, N: n, Figure: figure, Value: v, Note: note}
	}
	s := &source{elections: data{
		row(ours, "rest", "TTL 4s", "messages/s", 1000, 8.75, ""), row("other", "rest", "TTL 4s", "messages/s", 1000,
			13_000, ""),
		row(ours, "crash", "TTL 4s", "failover-ms", 1, 3500, ""), row("other", "crash", "TTL 4s", "failover-ms", 1, 900, ""),
		row("other", "mass", "TTL 4s", "overdue-s", 10_000, 60, "9965 of 10000"),
		row(ours, "handover", "TTL 4s", "gap-ms", 1, 0.9, ""), row("other", "handover", "TTL 4s", "gap-ms", 1, -312, ""),
		row(ours, "frozen", "TTL 4s", "both-work-ms", 1, -802, ""), row("other", "frozen", "TTL 4s", "both-work-ms", 1,
			-900, ""),
		row("other", "frozen", "TTL 1s", "both-work-ms", 1, 1662, ""),
	}, tasks: data{
		row(ours, "throughput", "buffered", "tasks/s", 100_000, 25_000, ""), row("river", "throughput", "buffered", "tasks/s",
			100_000, 6000, ""),
		row("river", "rerun", "defaults", "rerun-ms", 1, 60_000, "not within 1m0s"),
	}}
	text, err := s.withFigures("above\n" + readmeBegins + "| old |\n" + readmeEnds + "below\n")
	if err != nil || !strings.HasPrefix(text, "above\n"+readmeBegins) || !strings.HasSuffix(text, readmeEnds+"below\n") ||
		strings.Contains(text, "old") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, want := range []string{
		"|  | rolemanager | other |", "| 8.75 | 13,000 |", "| 3.5 s | 900 ms |", "| – | not within 60 s |",
		"| 0.9 ms | both work for 312 ms |",
		"| no time | 1.66 s |", "| 25,000 | 6,000 |", "| – | > 60 s |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	for day, says := range map[string]bool{"2026-11-24": true, gathered: false, "": false} {
		s.dir = t.TempDir()
		if day != "" {
			text := "Measured on " + day + " with 2 processors"
			if err := os.WriteFile(filepath.Join(s.dir, "tasks.txt"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text := s.readme()
		if (s.apart() != "") != says || strings.Contains(text, "each synced write by itself") != says ||
			!strings.Contains(text, "tasks on "+cmp.Or(day, "?")) {
			t.Errorf("measured on %q: %q\n%s", day, s.apart(), text)
		}
	}
	s.tasks = append(s.tasks, row(ours, "throughput", "synced", "tasks/s", 20_000, 11_000, ""))
	if text := s.readme(); !strings.Contains(text, "| … where it takes none | 11,000 |") {
		t.Errorf("synced tasks of another number are left out:\n%s", text)
	}
	if _, err := s.withFigures("nothing"); err == nil {
		t.Error("a README without the two lines is taken")
	}
}
