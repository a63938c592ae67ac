package assign_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAPausedRecurrence fires nothing, also after a fail-over and when it is defined again, and
// does not catch up afterwards. It can be run by hand all the while.
func TestAPausedRecurrence(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		ran := newTally()
		c, link := lossyClient(t, s)
		define := func(input int) {
			t.Helper()
			if err := assign.Recur(t.Context(), c, double, "often", "@every 7s", input,
				assign.CatchUp(assign.CatchUpAll)); err != nil {
				t.Fatal(err)
			}
		}
		define(1)
		a := newNode(t, s, "a", doubling(t, "a", ran))
		leader(t, a)
		time.Sleep(30 * time.Second)
		loseWrite(t, link, func() error { return assign.PauseRecurrence(t.Context(), c, "often", "a migration") })
		if err := assign.PauseRecurrence(t.Context(), c, "often", "another reason"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		before := len(ran.tasks())
		a.close(t)
		leader(t, newNode(t, s, "b", doubling(t, "b", ran)))
		define(2)
		time.Sleep(time.Minute)
		r := recurrences(t, c)[0]
		if len(ran.tasks()) != before || !r.Paused || r.PauseReason != "a migration" || !r.Next.IsZero() {
			t.Errorf("%d ticks during the pause: %+v", len(ran.tasks())-before, r)
		}
		id, err := assign.RunRecurrence(t.Context(), c, "often")
		if err != nil || !strings.HasPrefix(id, "cron/often/run-") {
			t.Fatal(id, err)
		}
		if out, err := assign.Find(c, double, id).Wait(t.Context()); err != nil || out != 4 {
			t.Errorf("run by hand: %v, %v", out, err)
		}
		loseWrite(t, link, func() error { return assign.ResumeRecurrence(t.Context(), c, "often") })
		if err := assign.ResumeRecurrence(t.Context(), c, "often"); err != nil {
			t.Fatal(err)
		}
		resumed := recurrences(t, c)[0].Since
		time.Sleep(30 * time.Second)
		want := 0
		for tick := r.Last; tick.Before(time.Now().Add(-time.Second)); tick = tick.Add(7 * time.Second) {
			if id := "cron/often/" + tick.UTC().Format("20060102T150405Z"); tick.After(resumed) {
				if want++; ran.tasks()[id] != 1 {
					t.Errorf("%s ran %d times", id, ran.tasks()[id])
				}
			}
		}
		if more := len(ran.tasks()) - before - 1; want < 4 || more < want || more > want+1 { // one may have come this second
			t.Errorf("%d ticks after the pause ended at %v, want %d: %v", more, resumed, want, ran.tasks())
		}
	})
}

func TestRecurrencesThatCannotBeSteered(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		for name, want := range map[string]error{"none": assign.ErrRecurrenceNotFound, "a..b": assign.ErrInvalidName} {
			_, err := assign.RunRecurrence(t.Context(), c, name)
			says(t, err, want, name)
			says(t, assign.PauseRecurrence(t.Context(), c, name, ""), want, name)
			says(t, assign.ResumeRecurrence(t.Context(), c, name), want, name)
		}
		says(t, assign.PauseRecurrence(t.Context(), c, "x", strings.Repeat("x", 5000)), assign.ErrTooLarge, "a reason")
	})
}
