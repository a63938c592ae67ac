package roles_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// pair runs a, which leads, and b, which follows; both see each other.
func pair(t *testing.T, s *natsrun.Server) (a, b *node, wa, wb *work) {
	t.Helper()
	wa, wb = newWork(), newWork()
	a = start(t, s, "a", one(wa.role("r")))
	receive(t, "a leads", wa.began)
	b = start(t, s, "b", one(wb.role("r")))
	b.follows("r", "a")
	a.sees("r", "a has b as successor", func(st roles.RoleStatus) bool { return st.Successor == "b" })
	return a, b, wa, wb
}

func TestStepDown(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b, wa, wb := pair(t, s)
		if err := a.StepDown(bound(t), "r"); err != nil {
			t.Error(err)
		}
		if cause := receive(t, "a's work ends", wa.ended); !errors.Is(cause, election.ErrSteppedDown) {
			t.Errorf("a's work ended with cause %v", cause)
		}
		receive(t, "b leads", wb.began)
		if err := a.StepDown(bound(t), "r"); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("StepDown of a follower: %v", err)
		}
		time.Sleep(time.Minute) // cool-downs are over
		if st := b.status("r"); !st.IsLeader {
			t.Errorf("b lost leadership: %+v", st)
		}
	})
}

func TestTransfer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, _, wa, wb := pair(t, s)
		wc := newWork()
		c := start(t, s, "c", one(wc.role("r")))
		c.follows("r", "a")
		a.sees("r", "a has two successors", func(st roles.RoleStatus) bool { return len(st.Candidates) == 3 })
		if err := a.Transfer(bound(t), "r", "c"); err != nil { // not b, which is next in line
			t.Fatal(err)
		}
		if cause := receive(t, "a's work ends", wa.ended); !errors.Is(cause, election.ErrTransferred) {
			t.Errorf("a's work ended with cause %v", cause)
		}
		receive(t, "c leads", wc.began)
		none(t, "b leads", wb.began)
		if err := c.Transfer(bound(t), "r", "nobody"); !errors.Is(err, election.ErrNotCandidate) {
			t.Errorf("Transfer to nobody: %v", err)
		}
		if err := a.Transfer(bound(t), "r", "b"); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("Transfer by a follower: %v", err)
		}
	})
}

func TestPauseAndResume(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b, wa, wb := pair(t, s)
		if err := a.Pause("r"); err != nil {
			t.Error(err)
		}
		receive(t, "a's work ends", wa.ended)
		receive(t, "b leads", wb.began)
		if st := a.status("r"); st.Reason != "paused" || !a.Status().Ready {
			t.Errorf("%+v, ready %v", st, a.Status().Ready)
		}
		if err := b.Pause("r"); err != nil {
			t.Error(err)
		}
		receive(t, "b's work ends", wb.ended)
		time.Sleep(time.Minute)
		none(t, "a leads although it is paused", wa.began)
		none(t, "b leads although it is paused", wb.began)
		if err := a.Resume("r"); err != nil {
			t.Error(err)
		}
		receive(t, "a leads again", wa.began)
	})
}

func TestPriorityTakeover(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		wa, wb := newWork(), newWork()
		wa.hold = make(chan struct{})
		low, high := wa.role("r"), wb.role("r")
		low.Priority = 1
		high.Priority, high.AllowPriorityTakeover = 2, true
		start(t, s, "low", one(low), func(c *roles.Config) { c.DrainTimeout = time.Minute })
		receive(t, "low leads", wa.began)
		b := start(t, s, "high", one(high))
		if cause := receive(t, "low is told to end", wa.ended); !errors.Is(cause, election.ErrOutranked) {
			t.Errorf("low's work ended with cause %v", cause)
		}
		time.Sleep(5 * time.Second)
		none(t, "high leads while low's work runs", wb.began)
		close(wa.hold)
		receive(t, "high leads", wb.began)
		time.Sleep(time.Minute)
		if st := b.status("r"); !st.IsLeader {
			t.Errorf("high lost leadership: %+v", st)
		}
	})
}

func TestAddAndRemove(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w, more, next := newWork(), newWork(), newWork()
		a := start(t, s, "a", one(w.role("r")))
		receive(t, "a leads", w.began)
		if err := a.Add(more.role("more")); err != nil {
			t.Fatal(err)
		}
		receive(t, "a leads more", more.began)
		if err := a.Add(more.role("new"), more.role("more")); err == nil {
			t.Error("the same role was added twice")
		}
		if _, ok := a.Election("new"); ok {
			t.Error("one of two roles was added although the other is wrong")
		}
		b := start(t, s, "b", one(next.role("more")))
		b.follows("more", "a")

		if err := a.Remove(bound(t), "more"); err != nil {
			t.Fatal(err)
		}
		receive(t, "the work of more has ended", more.ended)
		receive(t, "b leads more", next.began)
		if _, ok := a.Election("more"); ok {
			t.Error("a role that was removed is still there")
		}
		if err := a.Remove(bound(t), "more"); !errors.Is(err, roles.ErrUnknownRole) {
			t.Errorf("removed twice: %v", err)
		}
		if err := a.Add(more.role("more")); err != nil {
			t.Errorf("added again: %v", err)
		}
		a.follows("more", "b")
		if err := b.end(); err != nil {
			t.Error(err)
		}
		receive(t, "a leads more again", more.began)
	})
}

// A role whose work does not return is not forgotten: another Remove waits for it again.
func TestRemoveStuck(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		w.hold = make(chan struct{})
		a := start(t, s, "a", one(w.role("r")))
		receive(t, "a leads", w.began)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := a.Remove(ctx, "r"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Remove: %v", err)
		}
		if _, ok := a.Election("r"); !ok {
			t.Error("forgotten while its work runs")
		}
		close(w.hold)
		if err := a.Remove(bound(t), "r"); err != nil {
			t.Errorf("Remove when it has drained: %v", err)
		}
		if len(a.Status().Roles) != 0 {
			t.Errorf("still there: %+v", a.Status().Roles)
		}
	})
}

// Before Run roles come and go, and there is nothing to steer.
func TestBeforeRun(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w := newWork()
		m, err := roles.New(config(s, "a"), w.role("one"), w.role("two"))
		if err != nil {
			t.Fatal(err)
		}
		if m.Session() == nil || m.Session().Instance() != "a" {
			t.Error("no session before Run")
		}
		if err := m.Remove(bound(t), "one"); err != nil {
			t.Error(err)
		}
		if err := m.Add(w.role("one")); err != nil {
			t.Errorf("added again before Run: %v", err)
		}
		for what, err := range map[string]error{
			"StepDown": m.StepDown(bound(t), "one"), "Transfer": m.Transfer(bound(t), "one", "b"),
			"Pause": m.Pause("one"), "Resume": m.Resume("one"),
		} {
			if !errors.Is(err, roles.ErrNotRunning) {
				t.Errorf("%s before Run: %v", what, err)
			}
		}
		if err := m.Pause("nothing"); !errors.Is(err, roles.ErrUnknownRole) {
			t.Errorf("Pause of an unknown role: %v", err)
		}
		if st := m.Status(); st.Ready || st.Reason != "not running yet" || len(st.Roles) != 2 ||
			st.Connection != "DISCONNECTED" {
			t.Errorf("status %+v", st)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		receive(t, "leads", w.began)
		receive(t, "leads", w.began)
		cancel()
		if err := receive(t, "Run returns", ended); err != nil {
			t.Error(err)
		}
	})
}

// TestStatusOfSteered: every process tells which zone is drained and which role is paused for all,
// since when, by whom and why.
func TestStatusOfSteered(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, _, wa, _ := pair(t, s)
		o, err := election.Observe(t.Context(), natstest.Connect(t, s), a.Session().Bucket())
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		began := time.Now()
		if err := errors.Join(o.PauseRole(t.Context(), "r", election.Steering{By: "ops", Reason: "migration"}),
			o.DrainZone(t.Context(), "dc1", election.Steering{Hard: true, For: time.Hour})); err != nil {
			t.Fatal(err)
		}
		receive(t, "a's work ends", wa.ended)
		time.Sleep(30 * time.Minute)
		c := start(t, s, "c", one(newWork().role("r")))
		for _, n := range []*node{a, c} {
			natstest.Settle(t)
			told := n.Status().Steered
			if len(told) != 2 || told[0].Zone != "dc1" || told[1].Role != "r" {
				t.Fatalf("%+v", told)
			}
			if r := told[1]; r.By != "ops" || r.Reason != "migration" || r.Since.Sub(began).Abs() > time.Second {
				t.Errorf("%+v", r)
			}
			if z := told[0]; !z.Hard || z.Until.Sub(began.Add(time.Hour)).Abs() > time.Second {
				t.Errorf("%+v", z)
			}
		}
		if err := o.ResumeRole(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "nothing of a role is told", time.Minute, func() (bool, string) {
			for _, s := range a.Status().Steered {
				if s.Role != "" {
					return false, ""
				}
			}
			return true, ""
		})
	})
}
