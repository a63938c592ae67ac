package electionsim

import (
	"testing"
	"time"
)

// blaming draws a schedule in which processes report that idle sessions do not answer, while
// these begin and end their workload.
func blaming(seed uint64) *Plan {
	p := wild(seed)
	for i := range uint64(6) {
		who, at := int(seed+i), 3*time.Second+time.Duration((seed+3*i)%13)*2*time.Second
		p.Faults = append(p.Faults,
			Fault{Kind: Blame, Who: who, At: at},
			Fault{Kind: Describe, Who: who + 1, At: at + time.Duration(seed%7)*20*time.Millisecond, For: time.Second})
	}
	return p
}

// TestBlamedSessions: an idle session that is said not to answer is ended at once, though it lives.
// Nothing of it is at work then, nor later, and E1 to E8 hold.
func TestBlamedSessions(t *testing.T) {
	total := play(t, "blaming", *first, *schedules/9, blaming)
	t.Log(total)
	if total.Schedules < 100 {
		return
	}
	for what, n := range map[string]int{
		"idle sessions blamed":   total.Blamed - total.Schedules/10,
		"sessions ended at rest": total.AtRest - total.Schedules/10,
		"workloads":              total.Workloads - total.Schedules/10,
	} {
		if n < 0 {
			t.Errorf("too few %s in %d schedules: %v", what, total.Schedules, total)
		}
	}
}
