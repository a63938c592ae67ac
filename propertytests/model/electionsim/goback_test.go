package electionsim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// losing draws a schedule in which the bucket loses its newest writes, once or more often.
func losing(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 4))
	p.Single = rng.IntN(3) == 0
	faults := p.Faults[:0]
	for _, f := range p.Faults {
		if f.Kind != Recreate {
			faults = append(faults, f)
		}
	}
	p.Faults = faults
	for range 1 + rng.IntN(3) {
		p.Faults = append(p.Faults, Fault{
			Kind: GoBack, At: time.Second + time.Duration(rng.Int64N(int64(Length-2*time.Second))), Who: rng.IntN(3),
			Role: rng.IntN(p.Roles),
			For:  time.Duration(rng.Int64N(int64(8 * time.Second))),
		})
	}
	return p
}

// TestBucketLosesWrites: in every schedule the bucket loses its newest writes. The promises for
// that case hold, and everything that makes it hard has happened.
func TestBucketLosesWrites(t *testing.T) {
	total := play(t, "losing", *first, *schedules/3, losing)
	t.Log(total)
	if total.Schedules < 300 {
		return
	}
	// Overlaps come to 3 to 17 in 333 schedules, and refused writes to 460 to 980.
	for what, n := range map[string]int{
		"losses": total.Losses - total.Schedules, "writes lost": total.LostWrites - 4*total.Schedules,
		"terms whose record is lost": total.LostTerms - total.Schedules/2,
		"sessions ended by it":       total.Regressed - total.Schedules, "overlaps": total.LostApart - total.Schedules/300,
		"records overwritten by mistake":              total.Mistaken - total.Schedules/100,
		"writes to resources refused by what is lost": total.GuardAfterLoss - total.Schedules/3,
	} {
		if n < 0 {
			t.Errorf("too few %s in %d schedules: %v", what, total.Schedules, total)
		}
	}
}
