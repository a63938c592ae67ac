package assign_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestHandlersThatOutliveTheirSession: they take slots of the next session, and their task is not
// run beside them. The scheduler, which cannot know of them, counts what the worker refuses for it.
func TestHandlersThatOutliveTheirSession(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h := newHeld("stuck", "other")
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", h.register(t, "w"), workerOnly, slots(1))
		c := New(t, s)
		stuck := h.submit(t, c, "stubborn", "stuck")[0]
		session := bridge.Number(w.session)
		w.link.Cut()
		time.Sleep(2 * testTTL)
		w.link.Heal()
		natstest.Eventually(t, "the worker has another session", 30*time.Second, func() (bool, string) {
			n := bridge.Number(w.session)
			return n != 0 && n != session, fmt.Sprint(n)
		})
		natstest.Eventually(t, "the scheduler counts that the task still runs there", 30*time.Second, func() (bool, string) {
			return a.count(isRejected("busy")) > 0, a.dump()
		})
		if by := h.by("stuck"); len(by) != 1 {
			t.Errorf("the task runs beside itself: %v", by)
		}
		if err := stuck.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		other, err := assign.Submit(t.Context(), c, slow, "x", assign.WithID("other"))
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the scheduler counts that the only slot is taken", 30*time.Second, func() (bool, string) {
			return a.count(isRejected("full")) > 0, a.dump()
		})
		if by := h.by("other"); len(by) != 0 {
			t.Errorf("two tasks run on one slot: %v", by)
		}
		close(h.gates["other"])
		close(h.gates["stuck"])
		if out, err := other.Wait(t.Context()); out != "by w" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		if _, err := stuck.Wait(t.Context()); !errors.Is(err, assign.ErrTaskCancelled) {
			t.Errorf("%v: what a handler without a session returns counts for nothing", err)
		}
	})
}
