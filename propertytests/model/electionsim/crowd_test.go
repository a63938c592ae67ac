package electionsim

import (
	"fmt"
	"testing"
	"time"
)

// TestManyDieWithTheLeader: a leader dies together with many that would come before all others.
// Behind the first eight the dead cost nobody more: not when the leader's session is ended, and not
// when its role is claimed.
func TestManyDieWithTheLeader(t *testing.T) {
	const members, die = 40, 30
	for seed := range uint64(5) {
		w := newWorld(&Plan{Seed: seed, Roles: 1, Single: true})
		w.quiet = true
		plan := &MemberPlan{TTL: time.Second, Priorities: []int{0}}
		for i := range members {
			w.at(time.Duration(i)*100*time.Millisecond, w.newProcess(i, fmt.Sprintf("p%02d", i), plan).start)
		}
		w.runUntil(10 * time.Second)
		leader := w.leader("r0")
		if leader != w.members[0] {
			t.Fatalf("seed %d, failed after %d tests: the first one does not lead: %v", seed, seed+1, w.violated)
		}
		inLine := 8*leader.cfg.Delta + members*time.Millisecond
		within, _ := w.leaderless(leader, alone, 1)
		within += 2 * inLine // to end the session, and to claim
		clear(w.led)
		kills := w.Counts.Kills
		for _, p := range w.members[:die] {
			p.stop()
		}
		w.runUntil(w.now + within)
		if w.violated != nil || !w.led["r0"] {
			t.Fatalf("seed %d, failed after %d tests: nobody leads within %v: %v", seed, seed+1, within, w.violated)
		}
		if n := w.Counts.Kills - kills; n > 3 {
			t.Errorf("seed %d, failed after %d tests: %d sessions were ended, and one was in the way", seed, seed+1, n)
		}
	}
}
