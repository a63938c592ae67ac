package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the packages with the tag that the stage leaves out: the command cycles plays the
// tests of the first one, and the second one has benchmarks only.
var elsewhere = []string{"./propertytests/live", "./bench"}

// TestRealtimePackages: the realtime stage has every package with files that need the tag.
func TestRealtimePackages(t *testing.T) {
	t.Chdir("../..")
	tagged, err := list(t.Context(), ".", "realtime")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := list(t.Context(), ".", "")
	if err != nil {
		t.Fatal(err)
	}
	some, err := named([]string{"realtime"})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := some[0].steps(t.Context())
	if err != nil || len(steps) == 0 {
		t.Fatalf("%v, %v", steps, err)
	}
	var words []string
	for _, s := range steps {
		words = append(words, strings.Fields(s.line)...)
	}
	for _, name := range unseen(tagged, plain) {
		dir := "./" + strings.TrimPrefix(name, module+"/")
		if !slices.Contains(elsewhere, dir) && !slices.Contains(words, dir) && !slices.Contains(words, dir+"/...") {
			t.Errorf("%s has files for the realtime tag only, and the stage leaves it out", dir)
		}
	}
}

// TestAtOnce: commands that run side by side end when one of them fails, and each line is shown as
// a whole.
func TestAtOnce(t *testing.T) {
	long := step{line: "sleep 600"}
	for _, atOnce := range []bool{false, true} {
		steps := []step{{line: "go nothing"}, long}
		var shown bytes.Buffer
		s := stage{name: "some", steps: always(steps...), atOnce: atOnce}
		figures, err := s.run(t.Context(), &shown)
		if err == nil || len(figures) != 1 || figures[0].result != "FAIL" {
			t.Errorf("at once %v: %v, %v", atOnce, figures, err)
		}
		if ran := strings.Contains(shown.String(), long.line+"\n"); ran && !atOnce {
			t.Errorf("after a command that has failed the next one was run:\n%s", shown.String())
		}
	}
	var shown bytes.Buffer
	version := step{line: "go version"}
	s := stage{name: "some", steps: always(version, version, version), atOnce: true}
	if figures, err := s.run(t.Context(), &shown); err != nil || figures[0].cpu <= 0 {
		t.Errorf("%v, %v", figures, err)
	}
	lines := strings.Split(strings.TrimSpace(shown.String()), "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, "go version") || len(lines) != 6 {
			t.Errorf("%d lines, and one is %q", len(lines), line)
		}
	}
}
