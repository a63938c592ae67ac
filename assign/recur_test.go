package assign_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func recurrences(t *testing.T, c assign.Submitter) []assign.Recurrence {
	t.Helper()
	page, err := assign.ListRecurrences(t.Context(), c, assign.RecurrenceListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if page.Next != "" {
		t.Fatal("there is another page")
	}
	return page.Recurrences
}

func TestRecurringTasks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		ran := newTally()
		a := newNode(t, s, "a", doubling(t, "a", ran))
		leader(t, a)
		c := New(t, s)
		if err := assign.Recur(t.Context(), c, double, "minutely", "* * * * *", 21,
			assign.InZone("Europe/Berlin")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3*time.Minute + 10*time.Second) // virtual, from 2000-01-01 00:00
		for _, tick := range []string{"20000101T000100Z", "20000101T000200Z", "20000101T000300Z"} {
			id := "cron/minutely/" + tick
			st, err := assign.Get(t.Context(), c, id)
			if n := ran.tasks()[id]; n != 1 || err == nil && st.State != assign.StateSucceeded {
				t.Errorf("%s ran %d times: %+v, %v", id, n, st, err)
			}
		}
		if len(ran.tasks()) != 3 {
			t.Errorf("ran: %v\n%s", ran.tasks(), a.dump())
		}
		all := recurrences(t, c)
		if len(all) != 1 || all[0].Name != "minutely" || all[0].Kind != "double" || all[0].Zone != "Europe/Berlin" ||
			all[0].CatchUp != assign.CatchUpLatest ||
			all[0].CatchUpWindow != time.Minute || !all[0].Next.Equal(time.Date(2000, 1, 1, 0, 4, 0, 0, time.UTC)) ||
			!all[0].Last.Equal(time.Date(2000, 1, 1, 0, 3, 0, 0, time.UTC)) || all[0].Error != "" {
			t.Errorf("%+v", all)
		}
		if err := assign.RemoveRecurrence(t.Context(), c, "minutely"); err != nil {
			t.Fatal(err)
		}
		if err := assign.RemoveRecurrence(t.Context(), c, "minutely"); !errors.Is(err, assign.ErrRecurrenceNotFound) {
			t.Errorf("removed again: %v", err)
		}
		if all := recurrences(t, c); len(all) != 0 {
			t.Errorf("removed: %+v", all)
		}
		time.Sleep(2 * time.Minute)
		if len(ran.tasks()) != 3 {
			t.Errorf("ran after it was removed: %v", ran.tasks())
		}
	})
}

func TestSameRecurrenceIsWrittenOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c, link := lossyClient(t, s)
		define := func(spec string) error {
			return assign.Recur(t.Context(), c, double, "x", spec, 1, assign.CatchUp(assign.CatchUpAll),
				assign.CatchUpWindow(time.Hour),
				assign.RecurHeader("a", "1"), assign.RecurHeader("b", "2"), assign.RecurWith(assign.Priority(3)))
		}
		if err := define("@every 10m"); err != nil {
			t.Fatal(err)
		}
		since := recurrences(t, c)[0].Since
		time.Sleep(time.Hour) // virtual
		if err := define("@every 10m"); err != nil {
			t.Fatal(err)
		}
		if all := recurrences(t, c); !all[0].Since.Equal(since) ||
			!all[0].Next.Equal(since.Truncate(time.Second).Add(10*time.Minute)) {
			t.Errorf("the same definition was written again: %+v", all)
		}
		loseWrite(t, link, func() error { return define("@every 20m") })
		changed := recurrences(t, c)[0]
		if changed.Spec != "@every 20m" || !changed.Since.After(since) || changed.CatchUp != assign.CatchUpAll ||
			changed.CatchUpWindow != time.Hour {
			t.Errorf("changed: %+v", changed)
		}
		loseWrite(t, link, func() error { return assign.RemoveRecurrence(t.Context(), c, "x") })
		if all := recurrences(t, c); len(all) != 0 {
			t.Errorf("removed: %+v", all)
		}
	})
}

// TestRedefinitionKeepsDueTicks: a recurrence that gets another input or another treatment fires
// the ticks that were due before, and no tick twice; one that gets another schedule begins then.
func TestRedefinitionKeepsDueTicks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		c := New(t, s)
		define := func(spec string, input int) {
			t.Helper()
			if err := assign.Recur(t.Context(), c, double, "often", spec, input,
				assign.CatchUp(assign.CatchUpAll)); err != nil {
				t.Fatal(err)
			}
		}
		define("@every 7s", 1)
		time.Sleep(30 * time.Second) // nobody leads: four ticks are due
		define("@every 7s", 2)
		if next := recurrences(t, c)[0].Next; next.After(time.Now()) {
			t.Errorf("the next tick is at %v, and it is %v", next, time.Now())
		}
		leader(t, newNode(t, s, "a", doubling(t, "a", ran)))
		for i := range 6 { // programs of two versions, which restart again and again
			time.Sleep(5 * time.Second)
			define("@every 7s", 3+i%2)
		}
		time.Sleep(4 * time.Second)
		all := len(ran.tasks())
		if all < 8 || all > 10 { // in 64 s, and perhaps a second for the election
			t.Errorf("%d ticks in 64 s: %v", all, ran.tasks())
		}
		for id, n := range ran.tasks() {
			if n != 1 {
				t.Errorf("%s ran %d times", id, n)
			}
		}
		define("@every 50s", 9)
		time.Sleep(45 * time.Second)
		if more := len(ran.tasks()) - all; more > 1 { // one of the former schedule may have been due
			t.Errorf("%d ticks of another schedule before its first", more)
		}
	})
}

// TestAnEarlierReleaseDoesNotRedefine: programs of two versions that start again in turn.
func TestAnEarlierReleaseDoesNotRedefine(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		define := func(spec string, version int) {
			t.Helper()
			if err := assign.Recur(t.Context(), c, double, "x", spec, 1, assign.RecurVersion(version)); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			spec    string
			version int
			want    string
		}{
			{"@hourly", 0, "@hourly"},
			{"@daily", 2, "@daily"},
			{"@hourly", 0, "@daily"},
			{"@weekly", 1, "@daily"},
			{"@monthly", 2, "@monthly"},
		} {
			define(step.spec, step.version)
			r, err := assign.GetRecurrence(t.Context(), c, "x")
			if err != nil || r.Spec != step.want {
				t.Errorf("after %+v: %+v, %v", step, r, err)
			}
		}
		if _, err := assign.GetRecurrence(t.Context(), c, "y"); !errors.Is(err, assign.ErrRecurrenceNotFound) {
			t.Errorf("one that is not defined: %v", err)
		}
		if _, err := assign.GetRecurrence(t.Context(), c, "y..z"); !errors.Is(err, assign.ErrInvalidName) {
			t.Errorf("a name that cannot be: %v", err)
		}
	})
}

// TestRecurrencesPageByPage: each is listed once, whatever the size of a page.
func TestRecurrencesPageByPage(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		const n = 25
		for i := range n {
			if err := assign.Recur(t.Context(), c, double, fmt.Sprintf("r%d.%02d", i%2, i), "@hourly", i); err != nil {
				t.Fatal(err)
			}
		}
		if err := assign.RemoveRecurrence(t.Context(), c, "r0.10"); err != nil {
			t.Fatal(err)
		}
		for _, o := range []assign.RecurrenceListOptions{{Limit: 1}, {Limit: 7}, {}, {Prefix: "r1.", Limit: 4}} {
			var names []string
			for {
				page, err := assign.ListRecurrences(t.Context(), c, o)
				if err != nil || o.Limit > 0 && len(page.Recurrences) > o.Limit {
					t.Fatalf("%+v: %d recurrences, %v", o, len(page.Recurrences), err)
				}
				for _, r := range page.Recurrences {
					names = append(names, r.Name)
				}
				if o.Cursor = page.Next; o.Cursor == "" {
					break
				}
			}
			want := n - 1
			if o.Prefix != "" {
				want = n / 2
			}
			if !slices.IsSorted(names) && o.Prefix != "" || len(names) != want || len(slices.Compact(slices.Sorted(
				slices.Values(names)))) != want {
				t.Errorf("%+v: %d names, want %d: %v", o, len(names), want, names)
			}
		}
		_, err := assign.ListRecurrences(t.Context(), c, assign.RecurrenceListOptions{Cursor: "ended.7"})
		says(t, err, assign.ErrInvalidCursor, "ended.7")
		_, err = assign.ListRecurrences(t.Context(), c, assign.RecurrenceListOptions{Limit: 501})
		says(t, err, assign.ErrInvalidOption, "501")
	})
}

func TestRecurrencesThatCannotBe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		for _, tt := range []struct {
			name, spec string
			option     assign.RecurOption
			want       error
			says       string
		}{
			{name: "x", spec: "61 * * * *", want: assign.ErrInvalidSpec, says: "61"},
			{name: "x", spec: "* * * *", want: assign.ErrInvalidSpec, says: "5"},
			{name: "x", spec: "", want: assign.ErrInvalidSpec},
			{
				name: "x", spec: "@hourly", option: assign.InZone("Atlantis/Capital"), want: assign.ErrInvalidSpec,
				says: "Atlantis",
			},
			{name: "x", spec: "@hourly", option: assign.CatchUp("whatever"), want: assign.ErrInvalidOption, says: "whatever"},
			{name: "x", spec: "@hourly", option: assign.Overlap("whatever"), want: assign.ErrInvalidOption, says: "OverlapSkip"},
			{name: "x", spec: "@hourly", option: assign.RecurVersion(-1), want: assign.ErrInvalidOption, says: "-1"},
			{
				name: "x", spec: "@hourly", option: assign.RecurWith(assign.MaxAttempts(0)), want: assign.ErrInvalidOption,
				says: "MaxAttempts(0): use 1",
			},
			{
				name: "x", spec: "@hourly", option: assign.CatchUpWindow(-time.Second), want: assign.ErrInvalidOption,
				says: "CatchUpWindow(-1s)",
			},
			{
				name: "x", spec: "@hourly", option: assign.RecurHeader("", "x"), want: assign.ErrInvalidOption,
				says: "RecurHeader",
			},
			{
				name: "x", spec: "@hourly", option: assign.RecurHeader("a", "x\ny"), want: assign.ErrInvalidOption,
				says: "RecurHeader: the value of a",
			},
			{name: "x", spec: "@every -5s", want: assign.ErrInvalidSpec, says: "1s at least"},
			{name: "x", spec: "@every 1ms", want: assign.ErrInvalidSpec, says: "1s at least"},
			{name: "x", spec: "0 0 30 2 *", want: assign.ErrInvalidSpec, says: "does not come"},
			{name: "x", spec: "@hourly", option: assign.RecurHeader("a", strings.Repeat("x", 5000)), want: assign.ErrTooLarge},
			{name: "no good", spec: "@hourly", want: assign.ErrInvalidName},
			{name: strings.Repeat("x", 190), spec: "@hourly", want: assign.ErrInvalidName},
		} {
			if tt.option == nil {
				tt.option = assign.InZone("UTC")
			}
			err := assign.Recur(t.Context(), c, double, tt.name, tt.spec, 1, tt.option)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q %q: %v; want %v that says %q", tt.name, tt.spec, err, tt.want, tt.says)
			}
		}
		if err := assign.Recur(t.Context(), c, double, "x", "@hourly", 1, assign.Overlap(assign.OverlapSkip),
			assign.CatchUp(assign.CatchUpAll)); !errors.Is(err, assign.ErrInvalidOption) ||
			!strings.Contains(err.Error(), "use CatchUpLatest, or OverlapQueue") {
			t.Errorf("all ticks, of which each is skipped for the one before: %v", err)
		}
		if err := assign.Recur(t.Context(), c, double, "x", "@hourly", 1, nil); !errors.Is(err, assign.ErrInvalidOption) {
			t.Errorf("an option that is nil: %v", err)
		}
		if err := assign.Recur(t.Context(), c, assign.Kind[int, int]{}, "x", "@hourly", 1); !errors.Is(err,
			assign.ErrInvalidKind) {
			t.Errorf("no kind: %v", err)
		}
		if err := assign.RemoveRecurrence(t.Context(), c, "no good"); !errors.Is(err, assign.ErrInvalidName) {
			t.Errorf("%v", err)
		}
	})
}
