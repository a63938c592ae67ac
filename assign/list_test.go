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
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// listAll reads all pages and returns the tasks by id; no page may be too long, and no task come
// twice.
func listAll(t *testing.T, c assign.Submitter, o assign.ListOptions) map[string]assign.TaskStatus {
	t.Helper()
	all := map[string]assign.TaskStatus{}
	for pages := 0; ; pages++ {
		page, err := assign.List(t.Context(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		if o.Limit > 0 && len(page.Tasks) > o.Limit {
			t.Fatalf("a page of %d, the limit is %d", len(page.Tasks), o.Limit)
		}
		for _, st := range page.Tasks {
			if _, twice := all[st.ID]; twice {
				t.Fatalf("%s twice", st.ID)
			}
			all[st.ID] = st
		}
		if o.Cursor = page.Next; o.Cursor == "" {
			return all
		}
		if pages > 10_000 {
			t.Fatalf("no end of pages at %s", o.Cursor)
		}
	}
}

func TestList(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c := New(t, s)
		submit := func(id, input string, opts ...assign.SubmitOption) {
			t.Helper()
			if _, err := assign.Submit(t.Context(), c, say, input, append(opts, assign.WithID(id))...); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := assign.List(t.Context(), c, assign.ListOptions{}); !errors.Is(err, assign.ErrNoScheduler) {
			t.Errorf("nobody leads: %v", err)
		}
		b := newBench()
		newNode(t, s, "a", func(a *assign.Assigner) {
			saying(t, a, nil)
			b.register(t, "a")(a)
		}, slots(12))
		for i := range 20 {
			submit(fmt.Sprint("good-", i), "hi")
		}
		submit("bad-1", "permanent", assign.WithHeader("h", "v"))
		submit("late-1", "hi", assign.WithDelay(time.Hour), assign.WithPriority(5), assign.WithSticky("s"))
		submitSlow(t, c, 7)
		b.allStarted(t, 7)
		natstest.Eventually(t, "the others have ended", 10*time.Second, func() (bool, string) {
			ended := listAll(t, c, assign.ListOptions{States: []assign.State{assign.StateSucceeded, assign.StateDead}})
			return len(ended) == 21, fmt.Sprint(len(ended))
		})
		for _, tt := range []struct {
			what string
			o    assign.ListOptions
			want int
		}{
			{"all", assign.ListOptions{}, 29},
			{"all in small pages", assign.ListOptions{Limit: 3}, 29},
			{"succeeded", assign.ListOptions{States: []assign.State{assign.StateSucceeded}, Limit: 7}, 20},
			{"dead", assign.ListOptions{States: []assign.State{assign.StateDead}}, 1},
			{"running", assign.ListOptions{States: []assign.State{assign.StateRunning}, Limit: 2}, 7},
			{"delayed", assign.ListOptions{States: []assign.State{assign.StateDelayed}}, 1},
			{"delayed and dead", assign.ListOptions{States: []assign.State{assign.StateDelayed, assign.StateDead}}, 2},
			{"of a kind", assign.ListOptions{Kinds: []string{"slow"}}, 7},
			{"of a kind, ended", assign.ListOptions{Kinds: []string{"slow"}, States: []assign.State{assign.StateSucceeded}}, 0},
			{"with a prefix", assign.ListOptions{Prefix: "good-1"}, 11},
			{"of both", assign.ListOptions{Prefix: "slow-", Kinds: []string{"say", "slow"}}, 7},
		} {
			if all := listAll(t, c, tt.o); len(all) != tt.want {
				t.Errorf("%s: %d, want %d", tt.what, len(all), tt.want)
			}
		}
		all := listAll(t, c, assign.ListOptions{})
		if st := all["bad-1"]; st.State != assign.StateDead || st.Error != "no use" || st.Cause != "permanent" ||
			st.Headers["h"] != "v" ||
			st.Worker != "a" || st.Ended.IsZero() || !errors.Is(st.Err, assign.ErrTaskDead) {
			t.Errorf("%+v", st)
		}
		if st := all["late-1"]; st.State != assign.StateDelayed || st.Priority != 5 || st.Kind != "say" ||
			st.Submitted.IsZero() ||
			st.Due.Sub(st.Submitted).Round(time.Minute) != time.Hour {
			t.Errorf("%+v", st)
		}
		if st := all["slow-3"]; st.State != assign.StateRunning || st.Worker != "a" || st.Attempts != 1 {
			t.Errorf("%+v", st)
		}
		close(b.gate)
	})
}

func TestListThatCannotBe(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		for _, tt := range []struct {
			o    assign.ListOptions
			want error
		}{
			{assign.ListOptions{Limit: 501}, assign.ErrInvalidOption},
			{assign.ListOptions{States: []assign.State{"lost"}}, assign.ErrInvalidOption},
			{assign.ListOptions{Prefix: "a b"}, assign.ErrInvalidOption},
			{assign.ListOptions{Prefix: ".a"}, assign.ErrInvalidOption},
			{assign.ListOptions{Kinds: []string{"*"}}, assign.ErrInvalidOption},
			{assign.ListOptions{Cursor: "what"}, assign.ErrInvalidCursor},
			{assign.ListOptions{Cursor: "ended.x"}, assign.ErrInvalidCursor},
		} {
			if _, err := assign.List(t.Context(), c, tt.o); !errors.Is(err, tt.want) {
				t.Errorf("%+v: %v, want %v", tt.o, err, tt.want)
			}
		}
	})
}

// TestListIsBounded: an ended task is found behind any number of open ones, at a bounded cost for
// each page.
func TestListIsBounded(t *testing.T) {
	costly(t)
	thorough.Only(t, "it submits thousands of tasks")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		if _, err := assign.SubmitBatch(t.Context(), c, slow, make([]string, 9000)); err != nil {
			t.Fatal(err)
		}
		ran := newTally()
		n := newNode(t, s, "a", doubling(t, "a", ran))
		p, err := assign.Submit(t.Context(), c, double, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, n.dump())
		}
		o := assign.ListOptions{States: []assign.State{assign.StateSucceeded}}
		first, err := assign.List(t.Context(), c, o)
		if err != nil || len(first.Tasks) != 0 || !strings.HasPrefix(first.Next, "ended.") {
			t.Errorf("%+v, %v", first, err)
		}
		all := listAll(t, c, o)
		if ids := slices.Collect(func(yield func(string) bool) {
			for id := range all {
				if !yield(id) {
					return
				}
			}
		}); len(ids) != 1 || ids[0] != p.ID() {
			t.Errorf("%v", ids)
		}
	})
}
