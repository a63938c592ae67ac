package electionsim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestAScheduleIsPlayedTheSameWayTwice: else a seed shows nothing, and what has failed cannot be
// shrunk.
func TestAScheduleIsPlayedTheSameWayTwice(t *testing.T) {
	for i := range thorough.Pick(8, 16) {
		seed := uint64(time.Now().UnixNano()) + uint64(i)
		plan := wild(seed)
		if i%2 == 1 {
			plan = losing(seed)
		}
		once, twice := strings.Split(run(plan).trace.String(), "\n"), strings.Split(run(plan).trace.String(), "\n")
		if slices.Equal(once, twice) {
			continue
		}
		for n, line := range once {
			if n >= len(twice) || line != twice[n] {
				t.Fatalf("seed %d: %s\nand then: %s", seed, line, twice[min(n, len(twice)-1)])
			}
		}
		t.Fatalf("seed %d: %d lines, and then %d", seed, len(once), len(twice))
	}
}
