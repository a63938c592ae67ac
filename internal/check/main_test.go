package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNamed: stages come in their own order, and an unknown name is an error.
func TestNamed(t *testing.T) {
	some, err := named([]string{"race", "vet"})
	if err != nil || len(some) != 2 || some[0].name != "vet" || some[1].name != "race" {
		t.Errorf("%v, %v", some, err)
	}
	if all, err := named(nil); err != nil || len(all) != len(stages) {
		t.Errorf("%d of %d, %v", len(all), len(stages), err)
	}
	if _, err := named([]string{"vet", "vest"}); err == nil || !strings.Contains(err.Error(), "vest") {
		t.Error(err)
	}
}

// TestCheck: the run ends at the first stage that fails, or when it has taken too long. The figures
// of the stages that ran are kept.
func TestCheck(t *testing.T) {
	usual := stages
	t.Cleanup(func() { stages = usual })
	broken := errors.New("broken")
	stages = []stage{
		one("first", always(step{line: "go version"})),
		one("second", func(context.Context) ([]step, error) { return nil, broken }, "first"),
		one("third", always(step{line: "go version"}), "second"),
	}
	for _, c := range []struct {
		name  string
		of    []string
		most  time.Duration
		want  string // of the error
		lines int    // of the file
	}{
		{"all", nil, time.Minute, "second: broken", 3},
		{"those that pass", []string{"first", "third"}, time.Minute, "", 3},
		{"too long", []string{"first", "third"}, time.Nanosecond, "first: ", 2},
		{"no such stage", []string{"fourth"}, time.Minute, "fourth", 0},
	} {
		path := filepath.Join(t.TempDir(), "check.csv")
		err := check(t.Context(), io.Discard, c.of, path, time.Hour, c.most)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		kept, _ := os.ReadFile(path) // none, if nothing was run
		if lines := strings.Count(string(kept), "\n"); lines != c.lines {
			t.Errorf("%s: %d lines, want %d:\n%s", c.name, lines, c.lines, kept)
		}
	}
}

// TestBeside: stages run beside each other that need not come after each other. When one fails, the
// others end, and what it wrote is the last that is shown.
func TestBeside(t *testing.T) {
	wanted := []stage{
		{name: "slow", atOnce: true, steps: always(step{line: "go version"}, step{line: "sleep 600"})},
		one("quick", always(step{line: "go env GOOS"}, step{line: "sleep 1"}, step{line: "go nothing"})),
		one("last", always(step{line: "go env GOARCH"}), "slow"),
	}
	var shown bytes.Buffer
	figures, err := runAll(t.Context(), &shown, wanted, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "quick: ") {
		t.Error(err)
	}
	if len(figures) != 2 || figures[0].stage != "slow" || figures[1].stage != "quick" || figures[0].result != "FAIL" {
		t.Errorf("%v", figures)
	}
	slow, quick, both := strings.Cut(shown.String(), "== quick\n")
	if !both || !strings.Contains(slow, "go version go1.") || !strings.Contains(quick, "go nothing: unknown command") {
		t.Errorf("shown is\n%s", &shown)
	}
}

// TestBefore: each stage comes after stages that are listed before it. One that is not wanted
// stands for those that it comes after.
func TestBefore(t *testing.T) {
	seen := map[string]bool{}
	for i, s := range stages {
		for _, name := range s.after {
			if !seen[name] {
				t.Errorf("%s comes after %s, which is not listed before it", s.name, name)
			}
		}
		if i > 0 && len(s.after) == 0 {
			t.Errorf("%s comes after nothing", s.name)
		}
		seen[s.name] = true
	}
	wanted, err := named([]string{"vet", "race", "fuzz", "page"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range wanted {
		got = append(got, strings.Join(before(s, wanted), " ")+" < "+s.name)
	}
	if want := []string{" < vet", "vet < race", "race vet < page", "vet < fuzz"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
