package storms_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// How often storms are repeated at most, under new seeds, until everything that must happen has
// happened once: which fault meets which work is chance, however long one round is.
const (
	rounds   = 8       // of all shapes
	attempts = 40      // of one shape within a round: it lasts a few virtual minutes under the race detector
	apart    = 1 << 20 // the seeds of one shape's attempts: those in between are of other shapes and rounds
)

// untilAllHappened lets n storms rage, the nth of all being one of kind i, and all of them again
// until nothing wanted is missing.
func untilAllHappened(t *testing.T, total *elections.Tally, wanted []string, n, rounds int, rage func(i, nth int)) {
	t.Helper()
	for round := 1; ; round++ {
		for i := range n {
			rage(i, (round-1)*n+i)
		}
		missing := total.Missing(wanted...)
		if len(missing) == 0 || t.Failed() {
			return
		}
		if round == rounds {
			t.Fatalf("%d rounds without these prove less than they say: %q", rounds, missing)
		}
		t.Logf("round %d is over without %q", round, missing)
	}
}

func setting(t *testing.T, name string, otherwise float64) float64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}
