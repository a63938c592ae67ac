package main

import (
	"slices"
	"strings"
	"testing"
)

// played is the package whose realtime tests the command cycles plays.
const played = "propertytests/live"

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
	words := strings.Fields(steps[0].line)
	for _, name := range unseen(tagged, plain) {
		dir := "./" + strings.TrimPrefix(name, module+"/")
		if dir != "./"+played && !slices.Contains(words, dir) && !slices.Contains(words, dir+"/...") {
			t.Errorf("%s has files for the realtime tag only, and the stage leaves it out", dir)
		}
	}
}
