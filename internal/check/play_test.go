package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// TestHalfIsPlayed: a commit plays every other one of the plans, and with THOROUGH=all all of them.
func TestHalfIsPlayed(t *testing.T) {
	t.Chdir("../..")
	if _, err := git(t.Context(), ".", "rev-parse"); err != nil {
		t.Skipf("these sources are in no repository: %v", err)
	}
	for value, want := range map[string]int{"": len(plans()) / 2, draw.All: len(plans())} {
		t.Setenv(draw.Key, value)
		if some, err := plays(t.Context()); err != nil || len(some) != want {
			t.Errorf("%q: %d commands, want %d: %v", value, len(some), want, err)
		}
	}
}

// TestPlays: each command names tests that its package has, and flags that these tests define.
func TestPlays(t *testing.T) {
	t.Chdir("../..")
	for _, s := range plans() {
		m := regexp.MustCompile(`-run \^(\w+?)(?:\(([\w|]+)\))?\$ \./(\S+)(?: -args (.*))?$`).FindStringSubmatch(s.line)
		if m == nil {
			t.Errorf("no tests are named in %s", s.line)
			continue
		}
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(m[3]), "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files with tests, %v", m[3], len(files), err)
		}
		files = append(files, filepath.Join("internal", "natstest", "processors.go")) // which has a variable of its own
		var sources strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(text)
		}
		var wanted []string
		for name := range strings.SplitSeq(m[2], "|") {
			wanted = append(wanted, "\nfunc "+m[1]+name+"(t *testing.T)")
		}
		for word := range strings.FieldsSeq(m[4]) {
			if name, is := strings.CutPrefix(word, "-"); is {
				wanted = append(wanted, `"`+name+`", `)
			}
		}
		for _, e := range s.env {
			name, _, _ := strings.Cut(e, "=")
			wanted = append(wanted, `"`+name+`"`)
		}
		for _, text := range wanted {
			if !strings.Contains(sources.String(), text) {
				t.Errorf("%s has no %q, which is wanted by %s", m[3], text, s.line)
			}
		}
	}
}
