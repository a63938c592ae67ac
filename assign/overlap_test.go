package assign_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestTasksOfARecurrenceThatMayNotOverlap: each runs for 25 s, a tick comes every 10 s, and the
// scheduler is lost between the end of a task and the next tick.
func TestTasksOfARecurrenceThatMayNotOverlap(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		kinds := map[assign.OverlapPolicy]assign.Kind[time.Duration, string]{}
		var all []assign.Kind[time.Duration, string]
		for _, p := range []assign.OverlapPolicy{
			assign.OverlapAllow, assign.OverlapSkip, assign.OverlapQueue, assign.OverlapCancelRunning,
		} {
			kinds[p] = assign.NewKind[time.Duration, string](string(p))
			all = append(all, kinds[p])
		}
		a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		newNode(t, s, "w", r.handle(t, "w", all...), workerOnly)
		c := New(t, s)
		first := leader(t, a, z)
		for p, k := range kinds {
			how := assign.CatchUpLatest
			if p == assign.OverlapQueue {
				how = assign.CatchUpAll
			}
			if err := assign.Recur(t.Context(), c, k, string(p), "@every 10s", 25*time.Second, assign.Overlap(p),
				assign.CatchUp(how)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(37 * time.Second) // the first task has ended, and the tick after the two that it has outlived is to come
		second := a
		if first == a {
			second = z
		}
		first.link.Cut()
		leader(t, second)
		time.Sleep(3 * time.Minute)
		for p, want := range map[assign.OverlapPolicy]struct {
			step  time.Duration // between the ticks of tasks that were started, at least
			from  int           // how many ran at once, at most: from
			to    int           // to
			least int           // how many ticks
		}{
			assign.OverlapAllow: {10 * time.Second, 2, 9, 15}, assign.OverlapSkip: {30 * time.Second, 1, 1, 6},
			assign.OverlapQueue: {10 * time.Second, 1, 1, 7}, assign.OverlapCancelRunning: {10 * time.Second, 1, 2, 15},
		} {
			ticks := r.ticksOf(string(p))
			if peak := r.peak(string(p)); len(ticks) < want.least || peak < want.from || peak > want.to {
				t.Errorf("%s: %d at once, %v", p, peak, ticks)
			}
			for i := 1; i < len(ticks); i++ {
				if step := ticks[i].Sub(ticks[i-1]); step < want.step || p == assign.OverlapQueue && step != want.step {
					t.Errorf("%s: %v follows %v", p, ticks[i], ticks[i-1])
				}
			}
		}
		id := "cron/cancel/" + r.ticksOf("cancel")[0].Format("20060102T150405Z")
		_, err := assign.Find(c, kinds[assign.OverlapCancelRunning], id).Wait(t.Context())
		var why *assign.TaskError
		if !errors.As(err, &why) || why.Status != assign.StateCancelled || why.Cause != "overlap" {
			t.Errorf("%s: %v", id, err)
		}
		skipped := 0
		for _, n := range []*node{a, z} {
			n.count(func(e event.Event) bool {
				if x, ok := e.(event.TaskTicked); ok && x.Recurrence == "skip" {
					skipped += x.Skipped
				}
				return false
			})
		}
		if skipped < 10 {
			t.Errorf("%d ticks are said to be skipped", skipped)
		}
		for _, x := range recurrences(t, c) {
			if x.Overlap != assign.OverlapPolicy(x.Name) {
				t.Errorf("%+v", x)
			}
			if ticks := r.ticksOf("skip"); x.Name == "skip" && !x.Last.Equal(ticks[len(ticks)-1]) {
				t.Errorf("last submitted %v: %+v", ticks[len(ticks)-1], x)
			}
		}
	})
}
