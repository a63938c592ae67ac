package electionsim

import (
	"maps"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestBucketMadeAgain: every schedule has its bucket deleted and recreated, some of them twice, at
// once or after a gap, early or in the midst of other faults. The promises for that case hold, and
// everything that makes it hard has happened.
func TestBucketMadeAgain(t *testing.T) {
	var total Counts
	schedules := thorough.Pick(uint64(60), 200)
	for seed := range schedules {
		p := wild(seed)
		at := []time.Duration{600 * time.Millisecond, 1500 * time.Millisecond, 7 * time.Second, 20 * time.Second}[seed%4]
		gap := []time.Duration{0, 200 * time.Millisecond, 2 * time.Second}[seed%3]
		p.Faults = append(p.Faults, Fault{Kind: Recreate, At: at, For: gap})
		if seed%5 == 0 {
			p.Faults = append(p.Faults, Fault{Kind: Recreate, At: at + gap + 2*time.Second})
		}
		counts, err := Run(p)
		if err != nil {
			_, err = Run(fewer(p))
			t.Fatalf("seed %d: failed after %d tests: %v", seed, seed+1, err)
		}
		total.Add(counts)
	}
	happened, seldom := total.recreation()
	maps.Copy(happened, seldom)
	for what, n := range happened {
		if n == 0 {
			t.Errorf("no %s in %d schedules", what, total.Schedules)
		}
	}
	if total.Recreated < total.Schedules {
		t.Errorf("%d buckets were recreated in %d schedules", total.Recreated, total.Schedules)
	}
}

// recreation is what must have happened around buckets that are recreated: of a thousand drawn
// schedules in 25 or more, and in some five or fewer.
func (c Counts) recreation() (often, seldom map[string]int) {
	often = map[string]int{
		"buckets recreated": c.Recreated, "sessions that found no bucket": c.Gone,
		"sessions that found another one":          c.MadeAgain,
		"late writes that the next bucket refuses": c.LateRefused,
	}
	return often, map[string]int{
		"late writes that it takes": c.LateWon, "terms of two buckets at once": c.Apart,
		"guarded writes of a term of the bucket before": c.GuardOutlived,
	}
}

// TestStrayClaim: a claim over nothing lands late, in the next bucket, which does not know the
// session. The beat that was sent before it, over nothing as well, lands there too, and names a
// later session. Both are acknowledged, and neither is believed: no watch of the bucket that was
// opened shows them.
func TestStrayClaim(t *testing.T) {
	stray := 0
	schedules := thorough.Pick(uint64(200), 1000)
	for seed := range schedules {
		w := newWorld(&Plan{Seed: seed, Roles: 3, Noise: Noise{Slow: 50, LostReply: 20, Late: 10}})
		for i, name := range []string{"a", "b"} {
			w.newProcess(i, name, &MemberPlan{TTL: 3 * time.Second, Priorities: []int{0, 0, 0}}).start()
		}
		w.storm = time.Second
		w.at(w.between(200*time.Millisecond, 500*time.Millisecond), func() { w.remove(0, w.makeAgain) })
		w.runUntil(6 * time.Second)
		if w.violated != nil {
			t.Fatalf("seed %d: failed after %d tests: %v\n%v", seed, seed+1, w.violated, w.trace.String())
		}
		stray += w.Counts.LateWon
	}
	if stray == 0 {
		t.Error("it has not happened")
	}
}
