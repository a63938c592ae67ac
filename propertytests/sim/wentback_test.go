package sim

import (
	"testing"
	"time"
)

// TestBucketGoesBack: the bucket is replaced by one whose revisions begin anew, while a member leads. Both sessions end and say
// so; nobody leads under an epoch that was there before (E2). A single server says by its last revision that it has lost
// something. Replicas may just lag: there a write that wins below what was known is the proof.
func TestBucketGoesBack(t *testing.T) {
	for name, single := range map[string]bool{"a single server": true, "replicas": false} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				w := newWorld(&Plan{Seed: seed, Roles: 1})
				for i, name := range []string{"a", "b"} {
					w.newProcess(i, name, &MemberPlan{TTL: time.Second, Priorities: []int{0}}).start()
				}
				w.runUntil(5 * time.Second)
				if w.Counts.Terms != 1 {
					t.Fatalf("seed %d: %d terms, want one before anything happens", seed, w.Counts.Terms)
				}
				w.store = newStore()
				w.store.restored, w.store.single = true, single
				for _, p := range w.members {
					p.rebuild()
				}
				w.runUntil(w.now + time.Minute)
				if w.violated != nil {
					t.Fatalf("seed %d: failed after %d tests: %v\n%v", seed, seed+1, w.violated, w.trace.String())
				}
				if w.Counts.WentBack != len(w.members) || single && w.store.last("lease.a")+w.store.last("lease.b") != 0 {
					t.Fatalf("seed %d: failed after %d tests: %d sessions of %d have ended, and the bucket holds %v", seed, seed+1, w.Counts.WentBack, len(w.members), w.store.all)
				}
			}
		})
	}
}
