package assign_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestIdleWorkerTakesTheFirstFrame: an assignment ends the idleness of a session, whatever its idle
// beat is about, and waits for that: if it were dropped, its task would wait until the scheduler
// has missed the answer. The worker is a candidate, so its watch must show the beat, besides its
// acknowledgement, and each of them comes first at times. A task soon after another one waits for
// nothing but the way to the worker and back.
func TestIdleWorkerTakesTheFirstFrame(t *testing.T) {
	costly(t)
	for name, lag := range map[string]time.Duration{"on the spot": 0, "far away": 25 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				ran := newTally()
				idle := func(_ *election.SessionConfig, c *assign.Config, _ *bool) { c.SchedulerWorks = new(false) }
				a := newNode(t, s, "a", nil, idle)
				leader(t, a)
				w := newNode(t, s, "w", doubling(t, "w", ran), follower)
				w.link.Delay(lag)
				c := New(t, s)
				task := func(i int) time.Duration {
					p, err := assign.Submit(t.Context(), c, double, i)
					if err != nil {
						t.Fatal(err)
					}
					began := time.Now()
					if _, err := p.Wait(t.Context()); err != nil {
						t.Fatal(err)
					}
					return time.Since(began)
				}
				for i := range 60 {
					// virtual: it idles, and each time elsewhere between two beats
					time.Sleep(4*time.Second + time.Duration(i)*37*time.Millisecond)
					if took := task(i); took >= 400*time.Millisecond {
						t.Errorf("task %d waited for %v, as if its first frame were lost (virtual time)", i, took)
					}
					time.Sleep(400 * time.Millisecond)
					if took := task(i); took > 2*lag+time.Millisecond {
						t.Errorf("the task after task %d took %v, as if its worker idled again already (virtual time)", i, took)
					}
				}
				if n := w.count(isRejected("not_ready")); n != 0 {
					t.Errorf("%d frames were dropped", n)
				}
			})
		})
	}
}
