// Package thorough keeps long tests for runs in which nothing is left out. CI is such a run: it
// sets the variable CI. An ordinary go test ./... is not, so that it takes a few minutes.
//
// A commit has a quarter of those tests played, which its hash draws, and those of files that
// changed lately. Likewise a quarter of the packages play the larger of two sizes. .ci/run and make
// say so in the variable THOROUGH, unless it is set to all. Without it all are played, in the
// larger size.
//
// A test belongs here if it takes long and another one, which always runs, has the same goroutines
// or the same rule, or if it is about what only CI and campaigns do. docs/verification/runs.md says
// what CI adds.
package thorough

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// Asked reports whether this run leaves nothing out but what a commit does not draw: the variable
// CI is set, to any text.
func Asked() bool { return os.Getenv("CI") != "" }

// Only skips the test unless the run leaves nothing out, and says how to run it. The reason says
// why it takes long.
func Only(t testing.TB, reason string) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	switch {
	case !Asked():
		t.Skipf("%s: set CI=true to run it", reason)
	case !draw.Plays(os.Getenv(draw.Key), name):
		t.Skipf("%s, and this commit does not draw it: set %s=%s to run it", reason, draw.Key, draw.All)
	}
}

// Larger reports whether the tests of this package have the larger of two sizes: nothing is left
// out, and the commit draws the package, by the name of its program of tests.
func Larger() bool {
	return Asked() && draw.Plays(os.Getenv(draw.Key), filepath.Base(os.Args[0]))
}

// Pick is the usual size of a test, or the larger one if Larger says so.
func Pick[T any](usual, larger T) T {
	if Larger() {
		return larger
	}
	return usual
}
