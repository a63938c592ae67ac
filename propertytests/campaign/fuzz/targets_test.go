package fuzz

import (
	"context"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// every are all targets, which are listed once for the tests.
var every = sync.OnceValues(func() ([]target, error) {
	return targets(context.Background(), regexp.MustCompile(""))
})

// TestTargets: every target is found by its name, and only as what it is.
func TestTargets(t *testing.T) {
	all, err := every()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, found := range all {
		names = append(names, found.String())
	}
	for _, want := range []string{"fencing.FuzzToken", "protocol.FuzzMachine", "frame.FuzzEveryFrame", "worker.FuzzGate"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	if some, err := targets(t.Context(), regexp.MustCompile("^fencing")); err != nil || len(some) == 0 ||
		len(some) >= len(all) {
		t.Errorf("%d of %d targets are those of fencing, %v", len(some), len(all), err)
	}
}

// TestMarks: every target has the mark of its package.
func TestMarks(t *testing.T) {
	thorough.Only(t, "it reads what every package of a target is made of")
	marks, err := marks(t.Context())
	if err != nil || marks["fencing.FuzzToken"] == "" || marks["fencing.FuzzToken"] != marks["fencing.FuzzSeal"] ||
		marks["fencing.FuzzToken"] == marks["worker.FuzzGate"] {
		t.Errorf("%v, %v", marks, err)
	}
	for name, mark := range marks {
		if len(mark) != 8 {
			t.Errorf("%s: %q", name, mark)
		}
	}
}
