package electionsim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// zonedOut draws a schedule whose roles are spread over members in several zones: with weights,
// caps, roles that are to be apart, priorities, and zones that are drained.
func zonedOut(seed uint64) *Plan {
	p, rng := spreadOut(seed), rand.New(rand.NewPCG(seed, 17))
	q := zoned(seed)
	p.Zones, p.FailBack = q.Zones, min(q.FailBack, 2*time.Second)
	for i := range p.Members {
		p.Members[i].Zone = q.Members[i].Zone
	}
	kept := p.Faults[:0]
	for _, f := range p.Faults {
		if f.Kind != Transfer {
			kept = append(kept, f)
		}
	}
	p.Faults = kept
	for _, f := range q.Faults {
		if f.Kind == Steer {
			f.Role = rng.IntN(p.Roles)
			p.Faults = append(p.Faults, f)
		}
	}
	return p
}

// TestZonesAndSpread: E9 in each zone, E10, and E1 to E8 as ever, with roles that are spread over
// members in several zones.
func TestZonesAndSpread(t *testing.T) {
	total := play(t, "zones and spread", *first, *schedules/6, zonedOut)
	t.Log(total)
	if total.Schedules < 100 {
		return
	}
	if 4*total.Moves > 5*total.LeastMoves {
		t.Errorf("failed after %d tests: %d moves, %d would do", total.Schedules, total.Moves, total.LeastMoves)
	}
	if 100*total.DealtAgain > total.LedInTime {
		t.Errorf("failed after %d tests: %d of %d roles were led only after a second plan", total.Schedules,
			total.DealtAgain, total.LedInTime)
	}
	if total.Moves < total.Schedules/4 || total.FailBacks < total.Schedules {
		t.Errorf("only %d moves, and %d fail-backs", total.Moves, total.FailBacks)
	}
}
