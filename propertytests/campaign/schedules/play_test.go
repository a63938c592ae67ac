package schedules

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestStormsArePlayed: what the real test says about storms is read; each range takes seeds of its
// own; one that fails is told, counted, and not played again; one that is interrupted does not
// count.
func TestStormsArePlayed(t *testing.T) {
	thorough.Only(t, "it compiles storms, and plays three")
	t.Chdir("../../..") // the root of the module
	p := rangePlayer{
		kind: storms("storms", "^TestBubbleStorms$/^short$", 1, 1),
		path: filepath.Join(t.TempDir(), "schedules.csv"), schedules: 1,
	}
	if err := p.build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := p.next(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted range: %v", err)
	}
	p.env = func(uint64, int) []string { return []string{"ROLEMANAGER_STORM_HOURS=many"} }
	if err := p.next(t.Context()); err == nil || !strings.Contains(err.Error(), "ROLEMANAGER_STORM_HOURS: ") {
		t.Errorf("a range that has failed: %v", err)
	}
	all, err := table(p.path).Read()
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v, want two ranges and one that has failed", all, err)
	}
	for i, l := range all[:2] {
		// This shape alone has all that is wanted of so few hours: each round is one storm.
		if l.first != uint64(i*seedsOfStorms+1) || l.schedules != 1 || l.seconds == 0 || l.faults == 0 || l.terms < 2 ||
			l.violations != 0 {
			t.Errorf("range %d is %v", i, l)
		}
	}
	if l := all[2]; l.violations != 1 || l.schedules != 0 || l.first != 2*seedsOfStorms+1 ||
		next(all, p.name) != 3*seedsOfStorms+1 {
		t.Errorf("the range that has failed is %v", l)
	}
}
