package assign_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestIdleWorkerTakesTheFirstFrame: an assignment ends the idleness of a session, whatever its idle
// beat is about, and waits for that: if it were dropped, its task would wait until the scheduler
// has missed the answer. The worker is a candidate, so its watch must show the beat, besides its
// acknowledgement, and each of them comes first at times. A task soon after another one waits for
// nothing but the way to the worker and back.
func TestIdleWorkerTakesTheFirstFrame(t *testing.T) {
	costly(t)
	step := thorough.Pick(4, 1)
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
				for i := 0; i < 60; i += step {
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

// TestIdleWorkerThatIsGone: what was pushed to an idle worker that is gone runs elsewhere after two
// heartbeats, and a new scheduler waits no longer for its answer. Others hear an idle session so
// seldom that they would wait for it much longer. No lost worker is counted.
func TestIdleWorkerThatIsGone(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		bosses := func(_ *election.SessionConfig, c *assign.Config, _ *bool) { c.SchedulerWorks = new(false) }
		a, b := newNode(t, s, "a", nil, bosses), newNode(t, s, "b", nil, bosses)
		w := newNode(t, s, "w", doubling(t, "w", ran), workerOnly)
		first := leader(t, a, b)
		c := New(t, s)
		submit := func() *assign.Pending[int] {
			p, err := assign.Submit(t.Context(), c, double, 1)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		wait := func(what string, p *assign.Pending[int], since time.Time) {
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(since); took > testTTL {
				t.Errorf("%s: it took %v (virtual time)", what, took)
			}
		}
		wait("a worker that lives", submit(), time.Now())
		gone := func() time.Time {
			natstest.Eventually(t, "an idle session", time.Minute, func() (bool, string) {
				state := leaseState(t, a, "w.lease.w")
				return state == "idle", state
			})
			time.Sleep(testTTL) // virtual: its last beats are seen
			w.link.Cut()
			return time.Now()
		}
		since := gone()
		p := submit()
		newNode(t, s, "v", doubling(t, "v", ran), workerOnly)
		wait("pushed to a worker that is gone", p, since)

		w.link.Heal()
		natstest.Eventually(t, "it is back", time.Minute, func() (bool, string) {
			state := leaseState(t, a, "w.lease.w")
			return state == "live" || state == "idle", state
		})
		since = gone()
		if err := first.e.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait("a new scheduler beside a worker that is gone", submit(), since)
		for _, n := range []*node{a, b} {
			lost := n.count(func(e event.Event) bool {
				r, is := e.(event.TaskReassigned)
				return is && r.Cause == "worker_lost"
			})
			if lost > 0 {
				t.Errorf("%s has counted %d lost workers", n.name, lost)
			}
		}
	})
}
