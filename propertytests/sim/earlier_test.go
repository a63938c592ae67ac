package sim

import (
	"testing"
	"time"
)

// TestBucketInAnEarlierState: the bucket comes back as it was two seconds before, while a member leads. Every session ends and
// says so, at once on a single server, and after BackPatience on replicas, which may just lag; none is refused for ever.
func TestBucketInAnEarlierState(t *testing.T) {
	for name, single := range map[string]bool{"a single server": true, "replicas": false} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				w := newWorld(&Plan{Seed: seed, Roles: 1})
				for i, name := range []string{"a", "b"} {
					w.newProcess(i, name, &MemberPlan{TTL: time.Second, Priorities: []int{0}}).start()
				}
				w.runUntil(5 * time.Second)
				w.store = w.store.earlier(3 * time.Second)
				w.store.restored, w.store.single = true, single
				for _, p := range w.members {
					p.rebuild()
				}
				w.runUntil(w.now + 5*time.Minute)
				if w.violated != nil {
					t.Fatalf("seed %d: failed after %d tests: %v\n%v", seed, seed+1, w.violated, w.trace.String())
				}
				if w.Counts.WentBack != len(w.members) {
					t.Fatalf("seed %d: failed after %d tests: %d sessions of %d have ended, and the bucket holds %v", seed, seed+1, w.Counts.WentBack, len(w.members), w.store.all)
				}
			}
		})
	}
}

// earlier is the store as it was at a time.
func (s *store) earlier(at time.Duration) *store {
	e := newStore()
	for _, c := range s.log {
		if c.at > at {
			break
		}
		e.log = append(e.log, c)
		if len(e.keys[c.key]) == 0 {
			e.all = append(e.all, c.key)
		}
		e.keys[c.key] = append(e.keys[c.key], c)
	}
	return e
}
