package electionsim

import (
	"testing"
	"time"
)

// guarded draws a schedule in which each process has a guard.
func guarded(seed uint64) *Plan {
	p := wild(seed)
	p.Guarded = true
	for i := range uint64(3) { // crashes, most of them short: the next life meets what is done about the last one
		p.Faults = append(p.Faults, Fault{
			Kind: Crash, Who: int(seed/2 + i), At: (2 + 7*time.Duration(i) + time.Duration(seed%5)) * time.Second,
			For: time.Duration(1+seed*(i+7)%40) * time.Millisecond,
		})
	}
	return p
}

// TestGuardedProcesses: a process that crashes is ended at once. E1 to E8 hold, whatever it had
// under way, and however soon it is started again; and when all is quiet a leader that crashes is
// followed within some messages, whatever its TTL.
func TestGuardedProcesses(t *testing.T) {
	total := play(t, "guarded", *first, *schedules/3, guarded)
	t.Log(total)
	if total.Schedules >= 300 && total.Ended < 3*total.Schedules {
		t.Errorf("too few sessions ended by guards in %d schedules: %v", total.Schedules, total)
	}
}
