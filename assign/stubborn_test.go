package assign_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// left is how a session of a member has ended, as a node has seen it: "" for not yet.
func left(n *node, member string) (how string) {
	n.count(func(e event.Event) bool {
		if l, ok := e.(event.MemberLeft); ok && l.Member == member {
			how = l.Reason
		}
		return false
	})
	return how
}

// TestASessionUnderWhichAHandlerRunsIsNotClosed: it runs out, so a task whose handler does not
// return is run elsewhere no sooner than if its process had crashed. One that has drained is
// closed, and nobody waits.
func TestASessionUnderWhichAHandlerRunsIsNotClosed(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		t.Run(fmt.Sprint(stubborn), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				h := newHeld("task")
				a := newNode(t, s, "a", nil)
				leader(t, a)
				w := newNode(t, s, "w", h.register(t, "w"), workerOnly, drainTimeout(time.Second))
				x := newNode(t, s, "x", nil, workerOnly)
				input, want := "x", "closed"
				if stubborn {
					input, want = "stubborn", "killed"
				}
				p := h.submit(t, New(t, s), input, "task")[0]
				natstest.Eventually(t, "it runs", time.Minute, func() (bool, string) { return len(h.by("task")) == 1, "not yet" })
				h.register(t, "x")(x.a)
				w.close(t)
				closed := time.Now()
				natstest.Eventually(t, "it runs elsewhere", time.Minute, func() (bool, string) {
					by := h.by("task")
					return len(by) == 2 && by[1] == "x", fmt.Sprint(by, a.dump())
				})
				// The last beat was sent half a TTL before the close at most.
				if waited := time.Since(closed); stubborn && waited < testTTL/2 {
					t.Errorf("it runs elsewhere %v after its worker was closed, though its handler has not returned", waited)
				}
				if how := left(a, "w"); how != want {
					t.Errorf("the session has ended as %q, want %q\n%s", how, want, a.dump())
				}
				close(h.gates["task"])
				if out, err := p.Wait(t.Context()); out != "by x" || err != nil {
					t.Errorf("%q, %v", out, err)
				}
				natstest.Settle(t)
			})
		})
	}
}
