package electionsim

import (
	"testing"
	"time"
)

// TestBucketGoesBack: the bucket is replaced by one whose revisions begin again, while a member
// leads. Both sessions end and say so; nobody leads under an epoch that was there before (E2). A
// single server says by its last revision that it has lost something. Replicas may just lag: there
// a write that wins below what was known is the proof.
func TestBucketGoesBack(t *testing.T) {
	goesBack(t, time.Minute, func(*store) *store { return newStore() }, func(s *store) bool {
		return !s.single || len(s.log) == 0
	})
}

// TestBucketInAnEarlierState: the bucket comes back as it was two seconds before, while a member
// leads. Every session ends and says so, at once on a single server, and after BackPatience on
// replicas, which may just lag; none is refused for ever.
func TestBucketInAnEarlierState(t *testing.T) {
	goesBack(t, 5*time.Minute, func(s *store) *store { return s.earlier(3 * time.Second) },
		func(*store) bool { return true })
}

// goesBack puts another store in the place of one in which a member leads. Within a time every
// session has ended, and the store is as it should be.
func goesBack(t *testing.T, within time.Duration, to func(*store) *store, good func(*store) bool) {
	t.Helper()
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
				w.store = to(w.store)
				w.store.restored, w.store.single = true, single
				for _, p := range w.members {
					p.rebuild()
				}
				w.runUntil(w.now + within)
				if w.violated != nil {
					t.Fatalf("seed %d: failed after %d tests: %v\n%v", seed, seed+1, w.violated, w.trace.String())
				}
				if w.Counts.Regressed != len(w.members) || !good(w.store) {
					t.Fatalf("seed %d: failed after %d tests: %d sessions of %d have ended, and the bucket holds %v", seed, seed+1,
						w.Counts.Regressed, len(w.members), w.store.all)
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
