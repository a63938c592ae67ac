// Package thorough keeps long tests for runs in which nothing is left out. CI is such a run: it
// sets the variable CI. An ordinary go test ./... is not, so that it takes a few minutes.
//
// A test belongs here if it takes long and another one, which always runs, has the same goroutines
// or the same rule, or if it is about what only CI and campaigns do. docs/verification/runs.md says
// what CI adds.
package thorough

import (
	"os"
	"testing"
)

// Asked reports whether this run leaves nothing out: the variable CI is set, to any text.
func Asked() bool { return os.Getenv("CI") != "" }

// Only skips the test unless the run leaves nothing out, and says how to run it. The reason says
// why it takes long.
func Only(t testing.TB, reason string) {
	t.Helper()
	if !Asked() {
		t.Skipf("%s: set CI=true to run it", reason)
	}
}
