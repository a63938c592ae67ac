package electionsim

import (
	"math/rand/v2"
	"testing"
)

// depending draws a schedule in which some roles depend on a term elsewhere. In one of three they
// are spread, too.
func depending(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 17))
	if seed%3 == 0 {
		p = spreadOut(seed)
	}
	p.Depending = 1 + rng.IntN(1<<p.Roles-1)
	return p
}

// TestConditions: E11, and E1 to E9 as ever, with roles that depend on a term which their process
// has elsewhere: it comes and goes, hangs, and is told of late.
func TestConditions(t *testing.T) {
	total := play(t, "conditions", *first, *schedules/6, depending)
	t.Log(total)
	if total.Schedules < 50 {
		return
	}
	if n := total.Causes["condition ended"]; n < total.Schedules {
		t.Errorf("only %d terms of %d ended with the one that they depended on", n, total.Terms)
	}
}
