package electionsim

import (
	"slices"
	"testing"
	"time"
)

// denied draws a schedule in which processes lose a permission.
func denied(seed uint64) *Plan {
	p := wild(seed)
	p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool { return f.Kind == Recreate })
	for i := range uint64(4) {
		p.Faults = append(p.Faults, Fault{
			Kind: Deny, Who: int(seed/2 + i), At: time.Duration(2000+6500*i+seed*(i+3)*37%6000) * time.Millisecond,
		})
	}
	return p
}

// TestLastWill: a session that ends by a missing permission closes its lease when all its work has
// returned, so that its roles are led again at once. Nobody leads while that work runs, and E1 to
// E8 hold, whatever the process had under way.
func TestLastWill(t *testing.T) {
	total := play(t, "denied", *first, *schedules/6, denied)
	t.Log(total)
	if total.Schedules >= 50 && (total.Wills < total.Schedules || total.WillsKept < total.Schedules/4) {
		t.Errorf("only %d leases closed by a will, and %d left for work that ran", total.Wills, total.WillsKept)
	}
}
