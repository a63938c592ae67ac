package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// TestFileIsThePresentOne: the dashboard in the repository is what the program writes.
func TestFileIsThePresentOne(t *testing.T) {
	t.Parallel()
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("rolemanager.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("rolemanager.json is not what is written now (%v): go run ./deploy/grafana", err)
	}
}

// TestLayout: no two panels share a place or an id, each lies within the grid, and each that is not
// the head of a row asks for something.
func TestLayout(t *testing.T) {
	t.Parallel()
	text, err := render()
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d: %q with %d queries", p.ID, p.Title, len(p.Targets))
		}
		ids[p.ID] = true
		at := p.GridPos
		if at.X < 0 || at.X+at.W > width || at.W < 1 || at.H < 1 {
			t.Errorf("%s is at %+v", p.Title, at)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" {
					t.Errorf("%s lies over %s", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
	}
	if len(d.Panels) < 20 {
		t.Errorf("only %d panels", len(d.Panels))
	}
}
