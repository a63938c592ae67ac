//go:build realtime

package live_test

import (
	"fmt"
	"testing"
)

// playEach plays cycles that have nothing to do with each other, each as a subtest, and says what
// they have come to.
func playEach(t *testing.T, what string, cycle func(t *testing.T, i int, all *counts)) {
	n := cycles(t)
	var all counts
	for i := range n {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) { cycle(t, i, &all) })
	}
	played(t, n, what, all)
}

// cyclesBefore is how many were played before these, as ROLEMANAGER_CYCLES_BEFORE says: each draws
// its own faults.
func cyclesBefore(t *testing.T) int {
	t.Helper()
	return cyclesOf(t, "ROLEMANAGER_CYCLES_BEFORE", 0, 0)
}
