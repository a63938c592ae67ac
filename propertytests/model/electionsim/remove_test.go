package electionsim

import (
	"testing"
	"time"
)

// removing draws a schedule in which everybody leaves roles for a while, and an operator removes
// them.
func removing(seed uint64) *Plan {
	p := wild(seed)
	for i := range uint64(p.Roles) {
		p.Faults = append(p.Faults, Fault{
			Kind: RemoveRole, Role: int(i), At: 2*time.Second + time.Duration((seed+i)%9)*500*time.Millisecond,
			For: time.Duration((seed/3+i)%12) * time.Second,
		})
	}
	return p
}

// TestRemovedRoles: roles are removed that nobody led and nobody wanted, and are claimed again,
// while the marker of the removal stands and after that, or at the very time of the removal. E1 to
// E8 hold.
func TestRemovedRoles(t *testing.T) {
	total := play(t, "removing", *first, *schedules/3, removing)
	t.Log(total)
	if total.Schedules < 300 {
		return
	}
	for what, n := range map[string]int{
		"roles removed": total.Removed - total.Schedules/10, "claims over a removal": total.Reclaimed - total.Schedules/50,
		"removals that came too late": total.KeptRoles - total.Schedules/1000,
		"vacancies written again":     total.KeptVacancies - total.Schedules/50,
		"roles removed by who led":    total.Unwanted - total.Schedules/10,
		"roles removed of the dead":   total.RemovedHeld - total.Schedules/100,
		"roles given up for the dead": total.Abandoned - total.Schedules/50,
	} {
		if n < 0 {
			t.Errorf("too few %s in %d schedules: %v", what, total.Schedules, total)
		}
	}
}
