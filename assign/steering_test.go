package assign_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestPauseSurvivesFailover: a paused kind waits under every leader, and the others continue.
func TestPauseSurvivesFailover(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		held := assign.NewKind[time.Duration, string]("held")
		other := assign.NewKind[time.Duration, string]("other")
		c := New(t, s)
		// Before there is a scheduler at all.
		if err := assign.PauseKind(t.Context(), c, "held", "a test"); err != nil {
			t.Fatal(err)
		}
		a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		w := newNode(t, s, "w", r.handle(t, "w", held, other), workerOnly)
		first, second := leader(t, a, z), z
		if first == z {
			second = a
		}
		var all []*assign.Pending[string]
		for i := range 5 {
			all = append(all, submitNamed(t, c, held, fmt.Sprint("held-", i), 0))
		}
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, other, "other-1", 0)}, a, z)
		time.Sleep(5 * time.Second)
		first.link.Cut()
		leader(t, second)
		overviewShows(t, c, "the pause, by the next scheduler", func(o assign.Overview) bool {
			return slices.ContainsFunc(o.Kinds, func(k assign.KindOverview) bool { return k.Kind == "held" && k.Paused })
		})
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, other, "other-2", 0)}, a, z)
		time.Sleep(5 * time.Second)
		if n := len(r.started()); n != 2 {
			t.Errorf("%d tasks have started, want those of the other kind: %v", n, r.started())
		}
		if err := assign.ResumeKind(t.Context(), c, "held"); err != nil {
			t.Fatal(err)
		}
		waitAll(t, all, second, w)
		first.link.Heal()
	})
}

// overviewShows waits until the scheduler that leads says so.
func overviewShows(t *testing.T, c assign.Submitter, what string, ok func(assign.Overview) bool) {
	t.Helper()
	natstest.Eventually(t, "the overview shows "+what, 10*time.Second, func() (bool, string) {
		o, err := assign.GetOverview(t.Context(), c)
		return err == nil && ok(o), fmt.Sprintf("%+v, %v", o, err)
	})
}

// TestDrainSurvivesFailover: a drained worker finishes what it has and gets nothing new, under
// every leader.
func TestDrainSurvivesFailover(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("anywhere")
		a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		v := newNode(t, s, "v", r.handle(t, "v", k), workerOnly)
		w := newNode(t, s, "w", r.handle(t, "w", k), workerOnly)
		first, second := leader(t, a, z), z
		if first == z {
			second = a
		}
		c := New(t, s)
		var all []*assign.Pending[string]
		for i := range 8 {
			all = append(all, submitNamed(t, c, k, fmt.Sprint("before-", i), untilGate))
		}
		r.awaitStarted(t, 8)
		onW := 0
		for _, node := range r.nodes() {
			if node == "w" {
				onW++
			}
		}
		if onW == 0 {
			t.Fatal("nothing runs on the worker that is to be drained")
		}
		if err := assign.DrainWorker(t.Context(), c, "w", "a test"); err != nil {
			t.Fatal(err)
		}
		drained := func(o assign.Overview) bool {
			return slices.ContainsFunc(o.Workers, func(x assign.WorkerOverview) bool { return x.Instance == "w" && x.Drained })
		}
		overviewShows(t, c, "the drain", drained)
		more := func(name string, n int) {
			for i := range n {
				all = append(all, submitNamed(t, c, k, fmt.Sprint(name, "-", i), 0))
			}
		}
		more("drained", 20)
		waitAll(t, all[8:], first)
		first.link.Cut()
		leader(t, second)
		overviewShows(t, c, "the drain, by the next scheduler", drained)
		more("later", 20)
		waitAll(t, all[28:], second)
		for id, node := range r.nodes() {
			if node == "w" && id[:6] != "before" {
				t.Errorf("%s ran on the worker that is drained", id)
			}
		}
		close(r.waiting)
		waitAll(t, all, second, v, w)
		if len(r.started()) != 48 {
			t.Errorf("%d tasks were started, want 48: what ran was not left alone", len(r.started()))
		}
		if err := assign.UndrainWorker(t.Context(), c, "w"); err != nil {
			t.Fatal(err)
		}
		v.link.Cut() // so that only w is left
		all = append(all, submitNamed(t, c, k, "after", 0))
		waitAll(t, all[48:], second, w)
		if r.nodes()["after"] != "w" {
			t.Errorf("ran on %q, want w", r.nodes()["after"])
		}
		first.link.Heal()
		v.link.Heal()
	})
}
