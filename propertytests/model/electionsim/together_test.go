package electionsim

import (
	"math/rand/v2"
	"testing"
)

// crowded draws a schedule with more roles, whose claims go together.
func crowded(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 4))
	p.Together = true
	for range 2 + rng.IntN(4) {
		p.Roles++
		for i := range p.Members {
			m := &p.Members[i]
			m.Priorities = append(m.Priorities, rng.IntN(2))
		}
	}
	for i := range p.Faults {
		p.Faults[i].Role = rng.IntN(p.Roles)
	}
	return p
}

// TestClaimsTogether: all promises hold where claims go together, and such claims are refused
// without a reason, land late, and win without an answer. They are halved after a refusal, meet no
// other write of ours, and go alone when nothing is known of them.
func TestClaimsTogether(t *testing.T) {
	total := play(t, "crowded", *first, *schedules/10, crowded)
	t.Log(total)
	for what, n := range map[string]int{
		"writes of claims together": total.Together, "of them refused": total.TogetherRefused,
		"without an answer": total.TogetherUnknown, "won without an answer": total.TogetherUnheard,
	} {
		if n < total.Schedules/20 {
			t.Errorf("only %d %s in %d schedules", n, what, total.Schedules)
		}
	}
	if total.TogetherClaims < 5*total.Together/2 {
		t.Errorf("%d claims went together %d times", total.TogetherClaims, total.Together)
	}
}
