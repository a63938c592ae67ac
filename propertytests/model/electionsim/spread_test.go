package electionsim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// spreadOut draws a schedule in which the roles are spread: plainly, or over members that differ.
func spreadOut(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 11))
	p.Spread, p.Sharded, p.Sticky, p.Roles = true, rng.IntN(2) == 0, false, 2+rng.IntN(8)
	weights, caps, some, priorities := seed%3 == 1, seed%5 == 1, seed%4 == 1, seed%7 == 1
	p.Apart = seed%6 == 1
	for i := range p.Members {
		m := &p.Members[i]
		m.Priorities = make([]int, p.Roles)
		if weights {
			m.Capacity = 1 + rng.IntN(3)
		}
		if caps {
			m.MaxRoles = 1 + rng.IntN(p.Roles)
		}
		for r := range p.Roles {
			if some && i > 0 && rng.IntN(3) == 0 {
				m.Without |= 1 << r
			}
			if priorities {
				m.Priorities[r] = rng.IntN(2)
			}
		}
	}
	worker := slices.ContainsFunc(p.Members, func(m MemberPlan) bool { return m.Worker })
	p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool {
		// A worker that has the name of a candidate answers in its place when that is asked.
		return f.Kind == Recreate || f.Kind == Duplicate && worker
	})
	for i := range p.Faults {
		p.Faults[i].Role = rng.IntN(p.Roles)
	}
	return p
}

// TestSpread: E9, and E1 to E8 as ever, with views that are late, members that come and go,
// weights, caps, roles that are to be apart, priorities, and members that take part in some roles
// only.
func TestSpread(t *testing.T) {
	total := play(t, "spread", *first, *schedules/6, spreadOut)
	t.Log(total)
	if total.Schedules < 100 {
		return
	}
	if 4*total.Moves > 5*total.LeastMoves {
		t.Errorf("failed after %d tests: %d moves, %d would do", total.Schedules, total.Moves, total.LeastMoves)
	}
	if total.Moves < total.Schedules || total.Unplaced < total.Schedules/50 {
		t.Errorf("only %d moves, and %d roles unplaced", total.Moves, total.Unplaced)
	}
}
