package assign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// fatal is a kind whose handler fails in words of its own, and panics in its last attempt.
var fatal = assign.NewKind[string, string]("fatal", assign.MaxAttempts(4), assign.DeadRetention(time.Hour),
	assign.Backoff(10*time.Millisecond, time.Second))

func failing(t *testing.T) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, fatal, func(_ context.Context, task *assign.Task[string]) (string, error) {
			switch {
			case task.Input == "fixed":
				return "well", nil
			case task.Attempt() == 4:
				panic("the last straw")
			}
			return "", fmt.Errorf("fault %d", task.Attempt())
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestDeadTaskTellsOfAllItsAttempts: a dead task has its input, the error of each attempt with its
// worker and its time, the stack, and the time until which it is kept; so do the pages of a list,
// but for the input.
func TestDeadTaskTellsOfAllItsAttempts(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		n := newNode(t, s, "a", failing(t), slowly)
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, fatal, "precious")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		st, err := assign.Get(t.Context(), c, p.ID())
		if err != nil || string(st.Input) != `"precious"` {
			t.Fatalf("%s, %v", st.Input, err)
		}
		if left := time.Until(st.KeptUntil); left < 59*time.Minute || left > time.Hour {
			t.Errorf("kept for %v", left)
		}
		checkFailures(t, &st)
		page, err := assign.List(t.Context(), c, assign.ListOptions{States: []assign.State{assign.StateDead}})
		if err != nil || len(page.Tasks) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		checkFailures(t, &page.Tasks[0])

		time.Sleep(40 * time.Minute) // half an hour before it leaves
		var told []event.DeadTasksLeaving
		kept := 0
		n.count(func(e event.Event) bool {
			switch e := e.(type) {
			case event.DeadTasksLeaving:
				told = append(told, e)
			case event.DeadTasks:
				kept = e.Kept["fatal"]
			}
			return false
		})
		if len(told) != 1 || told[0].Kind != "fatal" || told[0].Tasks != 1 || told[0].First != p.ID() ||
			!told[0].At.Equal(st.KeptUntil) || kept != 1 {
			t.Errorf("%d kept, told: %+v", kept, told)
		}
		time.Sleep(time.Hour)
		if _, err := assign.Get(t.Context(), c, p.ID()); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("an hour and a half later: %v", err)
		}
	})
}

func checkFailures(t *testing.T, st *assign.TaskStatus) {
	t.Helper()
	var said []string
	for _, f := range st.Failures {
		said = append(said, fmt.Sprint(f.Worker, " ", f.Cause, ": ", f.Error))
		if f.Ended.IsZero() || f.Ended.Before(st.Failures[0].Ended) {
			t.Errorf("%+v", f)
		}
	}
	want := []string{
		"a failed: fault 1", "a failed: fault 2", "a failed: fault 3", "a max_attempts: panic: the last straw",
	}
	if !slices.Equal(said, want) || !strings.Contains(st.Stack, "dead_test.go") {
		t.Errorf("%q, stack %.60q", said, st.Stack)
	}
}

// TestFailuresOutliveSchedulers: what a task tells about its attempts is in the stream.
func TestFailuresOutliveSchedulers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		slowly := assign.With(assign.Backoff(time.Minute, time.Minute))
		a := newNode(t, s, "a", failing(t))
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, fatal, "precious", slowly)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Second)
		st, err := assign.Get(t.Context(), c, p.ID())
		if err != nil || st.State != assign.StateRetrying || len(st.Failures) != 2 || string(st.Input) != `"precious"` {
			t.Fatalf("%+v, %v\n%s", st, err, a.dump())
		}
		a.close(t)
		newNode(t, s, "b", failing(t))
		if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		st, err = assign.Get(t.Context(), c, p.ID())
		if err != nil || len(st.Failures) != 4 || st.Failures[1].Worker != "a" || st.Failures[2].Worker != "b" {
			t.Errorf("%+v, %v", st.Failures, err)
		}
	})
}

// TestRequeueWithAnotherInput: what was wrong with a task is fixed by hand.
func TestRequeueWithAnotherInput(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		newNode(t, s, "a", failing(t))
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, fatal, "broken", assign.WithHeader("h", "v"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		if err := assign.Requeue(t.Context(), c, p.ID(), assign.WithInput("\xff")); err == nil {
			t.Error("an input that is not UTF-8 is taken")
		}
		if err := assign.Requeue(t.Context(), c, p.ID(), assign.WithInput(make([]byte, 2<<20))); !errors.Is(err,
			assign.ErrTooLarge) {
			t.Errorf("2 MiB: %v", err)
		}
		if err := assign.Requeue(t.Context(), c, p.ID(), nil); !errors.Is(err, assign.ErrInvalidOption) {
			t.Errorf("a nil option: %v", err)
		}
		if err := assign.Requeue(t.Context(), c, p.ID(), assign.WithInput("fixed")); err != nil {
			t.Fatal(err)
		}
		if out, err := assign.Find(c, fatal, p.ID()).Wait(t.Context()); out != "well" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
	})
}

// TestDelete: a task that has ended is gone at once, and its id is free; one that is open stays.
func TestDelete(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		n := newNode(t, s, "a", failing(t))
		c := New(t, s)
		dead, err := assign.Submit(t.Context(), c, fatal, "in", assign.WithID("x"), assign.WithUnique("u"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dead.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		open, err := assign.Submit(t.Context(), c, fatal, "fixed", assign.WithDelay(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if err := assign.Delete(t.Context(), c, open.ID()); !errors.Is(err, assign.ErrTaskOpen) {
			t.Errorf("open: %v", err)
		}
		if err := assign.Delete(t.Context(), c, "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := assign.Get(t.Context(), c, "x"); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("deleted: %v", err)
		}
		if err := assign.Delete(t.Context(), c, "x"); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("twice: %v", err)
		}
		again, err := assign.Submit(t.Context(), c, fatal, "fixed", assign.WithID("x"), assign.WithUnique("u"))
		if err != nil || again.Existing() {
			t.Fatalf("%v, %v", again.Existing(), err)
		}
		if out, err := again.Wait(t.Context()); out != "well" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		if n := n.count(func(e event.Event) bool { _, ignored := e.(event.RecordIgnored); return ignored }); n != 0 {
			t.Errorf("%d records are ignored", n)
		}
	})
}
