//go:build !race

// The race detector has its own objects in the heap.

package roles_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// heapBound is what a followed role may cost, in bytes.
const heapBound = 2 << 10

// few and lots are how many roles are followed, and then how many.
const few, lots = 1000, 4000

func TestHeapPerFollowedRole(t *testing.T) {
	s := natstest.Server(t)
	// The tests' log would be most of the heap; the TTL is for thousands of claims at once on a
	// slow machine.
	quiet := func(c *roles.Config) { c.Logger, c.TTL = nil, time.Minute }
	w := newWork()
	leader := start(t, s, "leader", many(&work{began: make(chan *election.Term, lots), ended: make(chan error, lots)},
		0, lots), quiet)
	leader.leads(lots)
	follower := start(t, s, "follower", many(w, 0, few), quiet)
	before := follower.heap(leader, few)
	if err := follower.Add(many(w, few, lots)...); err != nil {
		t.Fatal(err)
	}
	after := follower.heap(leader, lots)
	per := (int64(after) - int64(before)) / (lots - few)
	t.Logf("heap: %d KiB at %d followed roles, %d KiB at %d: %d bytes for each", before>>10, few, after>>10, lots, per)
	if per > heapBound {
		t.Errorf("%d bytes for each followed role, the bound is %d", per, heapBound)
	}
}

// heap is the memory in use when n follows that many roles of leader, both know it, and no garbage
// is left.
func (n *node) heap(leader *node, count int) uint64 {
	n.t.Helper()
	natstest.Eventually(n.t, fmt.Sprintf("%d roles are followed, and known to be", count), patience,
		func() (bool, string) {
			following, known := 0, 0
			for _, r := range n.Session().Roles() {
				if e, ok := n.Election(r.Role); ok && e.LeaderID() == "leader" {
					following++
				}
			}
			for _, mb := range leader.Session().Members() {
				if mb.Instance == "follower" {
					known = len(mb.Roles)
				}
			}
			return following == count && known == count, fmt.Sprint(following, known)
		})
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
