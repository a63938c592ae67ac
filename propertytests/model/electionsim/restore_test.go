package electionsim

import (
	"testing"
	"time"
)

// restoring draws a schedule in which the bucket gets lost while it is used, and is restored.
func restoring(seed uint64) *Plan {
	p := wild(seed)
	faults := p.Faults[:0]
	for _, f := range p.Faults {
		if f.Kind != Recreate {
			faults = append(faults, f)
		}
	}
	p.Faults = append(faults, Fault{
		Kind: Restore, Who: int(seed), Role: int(seed / 3),
		At:  2*time.Second + time.Duration(seed%7)*300*time.Millisecond,
		For: []time.Duration{0, 20 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second}[seed%4],
	})
	return p
}

// TestLostBucketIsRestored: in every schedule the bucket gets lost, and an operator restores it and
// may be interrupted. E1 to E8 hold as ever, also across the two buckets: members stay connected or
// are cut off, and what they have sent to the lost one may land in the next one.
func TestLostBucketIsRestored(t *testing.T) {
	total := play(t, "restoring", *first, *schedules/3, restoring)
	t.Log(total)
	if total.Schedules < 300 {
		return
	}
	for what, n := range map[string]int{
		"buckets restored": total.Restored - total.Schedules, "adoptions": total.Adopted - total.Schedules*3/4,
		"terms when it got lost":     total.LedThroughLoss - total.Schedules/2,
		"late writes":                total.LateWon + total.LateRefused - total.Schedules/20,
		"sessions that found it":     total.MadeAgain + total.Gone - total.Schedules/4,
		"terms of both side by side": -total.Apart,
	} {
		if n < 0 {
			t.Errorf("too few %s in %d schedules: %v", what, total.Schedules, total)
		}
	}
}
