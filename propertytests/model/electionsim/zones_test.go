package electionsim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// zoned draws a schedule whose members are in three zones, of which the roles name two.
func zoned(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 13))
	p.Zones, p.Sticky = []string{"one", "two"}, false
	if seed%4 > 0 {
		p.FailBack = time.Duration(200+rng.IntN(6000)) * time.Millisecond
	}
	for i := range p.Members {
		p.Members[i].Zone = []string{"one", "two", "three"}[rng.IntN(3)]
	}
	worker := slices.ContainsFunc(p.Members, func(m MemberPlan) bool { return m.Worker })
	p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool {
		// A worker that has the name of a candidate answers in its place when that is asked. Operators
		// transfer a role to any zone.
		return f.Kind == Duplicate && worker || f.Kind == Transfer
	})
	if seed%2 == 0 {
		for range 1 + rng.IntN(3) {
			p.Faults = append(p.Faults, Fault{
				At: time.Duration(rng.Int64N(int64(Length))), Kind: Steer, Who: rng.IntN(4), Role: rng.IntN(p.Roles),
				For: time.Duration(50e6 + rng.Int64N(8e9)),
			})
		}
	}
	return p
}

// TestZones: E10, and E1 to E8 as ever, with members in several zones, and fail-backs that are
// damped, or never happen.
func TestZones(t *testing.T) {
	total := play(t, "zones", *first, *schedules/6, zoned)
	t.Log(total)
	if total.Schedules < 100 {
		return
	}
	if total.FailBacks < total.Schedules/4 || total.FlappedBack < total.Schedules/100 {
		t.Errorf("only %d fail-backs, of which %d did not last", total.FailBacks, total.FlappedBack)
	}
}
