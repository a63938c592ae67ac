package assign_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestTicksAreBackfilled: those of a pause, each once, however often that is asked for, and none
// that the scheduler is still to submit.
func TestTicksAreBackfilled(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("sweep")
		c := New(t, s)
		leader(t, newNode(t, s, "a", r.handle(t, "a", k)))
		if err := assign.Recur(t.Context(), c, k, "sweep", "@every 10s", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(35 * time.Second)
		before := len(r.ticksOf("sweep"))
		from := time.Now()
		if err := assign.PauseRecurrence(t.Context(), c, "sweep", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		o := assign.BackfillOptions{From: from, To: from.Add(time.Hour), Limit: 8, DryRun: true}
		dry, err := assign.BackfillRecurrence(t.Context(), c, "sweep", o)
		if err != nil || len(dry.Submitted) != 8 || dry.Next.IsZero() || len(r.ticksOf("sweep")) != before {
			t.Errorf("a dry run: %+v, %v", dry, err)
		}
		if err := assign.ResumeRecurrence(t.Context(), c, "sweep"); err != nil {
			t.Fatal(err)
		}
		resumed := time.Now()
		o.DryRun = false
		first, err := assign.BackfillRecurrence(t.Context(), c, "sweep", o)
		if err != nil || !slices.Equal(first.Submitted, dry.Submitted) || !first.Next.Equal(dry.Next) ||
			first.Until.Before(resumed.Add(-time.Second)) || first.Until.After(resumed.Add(11*time.Second)) {
			t.Errorf("the first ones: %+v, %v", first, err)
		}
		o.From, o.Limit = first.Next, 0
		second, err := assign.BackfillRecurrence(t.Context(), c, "sweep", o)
		if n := len(second.Submitted); err != nil || n < 3 || n > 5 || !second.Next.IsZero() {
			t.Errorf("the others: %+v, %v", second, err)
		}
		time.Sleep(20 * time.Second)
		o.From = from
		again, err := assign.BackfillRecurrence(t.Context(), c, "sweep", o)
		if err != nil || len(again.Submitted) != 0 || len(again.Existing) < 11 {
			t.Errorf("once more: %+v, %v", again, err)
		}
		time.Sleep(20 * time.Second)
		everyTick(t, r.ticksOf("sweep"), 10*time.Second, 17) // each once, with those before and after
	})
}

// TestBackfilledTasksRunInTurn where tasks of the recurrence may not overlap.
func TestBackfilledTasksRunInTurn(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("sweep", assign.Retention(time.Minute))
		c := New(t, s)
		leader(t, newNode(t, s, "a", r.handle(t, "a", k), slowly))
		if err := assign.Recur(t.Context(), c, k, "sweep", "@hourly", 7*time.Minute,
			assign.Overlap(assign.OverlapQueue)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Minute) // the first tick's task is open
		day := time.Now().Truncate(time.Hour)
		if len(r.ticksOf("sweep")) != 1 {
			t.Fatal(r.ticksOf("sweep"))
		}
		o := assign.BackfillOptions{From: day.Add(-5 * time.Hour), To: day}
		b, err := assign.BackfillRecurrence(t.Context(), c, "sweep", o)
		if err != nil || len(b.Submitted) != 5 || len(b.Existing) != 1 {
			t.Errorf("%+v, %v", b, err)
		}
		time.Sleep(50 * time.Minute)
		if n := len(r.ticksOf("sweep")); n != 6 || r.peak("sweep") != 1 {
			t.Errorf("%d tasks ran, %d at once", n, r.peak("sweep"))
		}
	})
}

func TestBackfillsThatCannotBe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		if err := assign.Recur(t.Context(), c, double, "seconds", "@every 1s", 1); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		for name, tt := range map[string]struct {
			of   string
			o    assign.BackfillOptions
			want error
			says string
		}{
			"no such recurrence": {"none", assign.BackfillOptions{From: now, To: now}, assign.ErrRecurrenceNotFound, "none"},
			"no name":            {"a..b", assign.BackfillOptions{From: now, To: now}, assign.ErrInvalidName, "a..b"},
			"no end":             {"seconds", assign.BackfillOptions{From: now}, assign.ErrInvalidOption, "required"},
			"backwards": {
				"seconds", assign.BackfillOptions{From: now, To: now.Add(-time.Second)}, assign.ErrInvalidOption, "before",
			},
			"too many": {
				"seconds", assign.BackfillOptions{From: now, To: now, Limit: 1001}, assign.ErrInvalidOption, "use 1 to 1000",
			},
		} {
			_, err := assign.BackfillRecurrence(t.Context(), c, tt.of, tt.o)
			says(t, err, tt.want, tt.says)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// ten years of seconds, of which a thousand are looked at
		b, err := assign.BackfillRecurrence(t.Context(), c, "seconds", assign.BackfillOptions{
			From: now.AddDate(-10, 0, 0), To: now, DryRun: true,
		})
		if err != nil || len(b.Submitted) != 1000 || b.Next.Sub(now.AddDate(-10, 0, 0)) > 1001*time.Second {
			t.Errorf("ten years: %d, then %v, %v", len(b.Submitted), b.Next, err)
		}
	})
}
