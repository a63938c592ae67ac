package electionsim

import (
	"testing"
	"time"
)

// adopting draws a schedule in which the bucket is adopted once or twice while it is used, and
// purged late.
func adopting(seed uint64) *Plan {
	p := wild(seed)
	faults := p.Faults[:0]
	for _, f := range p.Faults {
		if f.Kind != Recreate {
			faults = append(faults, f)
		}
	}
	p.Faults = append(faults, Fault{
		Kind: Adopt, Who: int(seed), Role: int(seed / 3),
		At: 2*time.Second + time.Duration(seed%7)*300*time.Millisecond,
	})
	for i := range seed % 4 {
		p.Faults = append(p.Faults, Fault{
			Kind: LatePurge, At: 14*time.Second + time.Duration(i*5000+seed*37%4000)*time.Millisecond,
		})
	}
	return p
}

// TestAdoptedBucket: in every schedule the bucket is adopted, by operators who are interrupted or
// who meet, and a purge may come late. E1 to E8 hold as ever: a process that was cut off may
// believe in a term that nobody can see.
func TestAdoptedBucket(t *testing.T) {
	total := play(t, "adopting", *first, *schedules/3, adopting)
	t.Log(total)
	if total.Schedules < 300 {
		return
	}
	for what, n := range map[string]int{
		"adoptions": total.Adopted - total.Schedules*3/4, "revoked leases": total.Revoked - total.Schedules,
		"late purges":           total.LatePurges - total.Schedules/10,
		"terms through a purge": total.LedThroughPurge - total.Schedules/10,
	} {
		if n < 0 {
			t.Errorf("too few %s in %d schedules: %v", what, total.Schedules, total)
		}
	}
}
