package electionsim

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestTwoBucketsAreNeverOne: the connections of some processes lead to another bucket of the same
// name for a while, in which all that they know of is absent. No session and no term comes true by
// what is acknowledged there, and E1 to E8 hold at home.
func TestTwoBucketsAreNeverOne(t *testing.T) {
	var total Counts
	schedules := thorough.Pick(uint64(30), 120)
	for seed := range schedules {
		p := wild(seed)
		for i := range 3 + seed%6 {
			p.Faults = append(p.Faults, Fault{
				Kind: Elsewhere, Who: int(i + seed),
				At:  time.Duration(i*i*600+seed) * time.Millisecond,
				For: []time.Duration{30 * time.Millisecond, 200 * time.Millisecond, time.Second}[(seed+i)%3],
			})
		}
		counts, err := Run(p)
		if err != nil {
			_, err = Run(fewer(p))
			t.Fatalf("seed %d: failed after %d tests: %v", seed, seed+1, err)
		}
		total.Add(counts)
	}
	for what, n := range map[string]int{
		"connections to another bucket": total.Elsewhere,
		"sessions that found out":       total.Refused,
		"writes that it took":           total.WonElsewhere,
	} {
		if n == 0 {
			t.Errorf("no %s in %d schedules", what, total.Schedules)
		}
	}
}
