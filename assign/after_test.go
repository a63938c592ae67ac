package assign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

var step = assign.NewKind[string, string]("step", assign.MaxAttempts(1))

// journal is the order in which tasks ran.
type journal struct {
	mu  sync.Mutex
	ran []string
}

func (j *journal) handle(t *testing.T) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, step, func(_ context.Context, task *assign.Task[string]) (string, error) {
			time.Sleep(time.Second)
			j.mu.Lock()
			defer j.mu.Unlock()
			j.ran = append(j.ran, task.ID())
			if task.Input == "fail" {
				return "", errors.New("it fails")
			}
			return "output of " + task.ID(), nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func (j *journal) entries() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.ran)
}

func submitStep(t *testing.T, c *assign.Client, id, input string, opts ...assign.SubmitOption) *assign.Pending[string] {
	t.Helper()
	p, err := assign.Submit(t.Context(), c, step, input, append(opts, assign.WithID(id))...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAfter: tasks run after those that they name, also when these ended before; what waits for a
// failure, for a task that was skipped, or for none is skipped, unless it asks for the end only.
func TestAfter(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var j journal
		n := newNode(t, s, "a", j.handle(t))
		leader(t, n)
		c := New(t, s)
		ctx := t.Context()
		first := submitStep(t, c, "first", "", assign.With(assign.Retention(time.Minute)))
		second := submitStep(t, c, "second", "", assign.After("first"))
		natstest.Eventually(t, "it says why it waits", time.Minute, func() (bool, string) {
			g, err := assign.Get(ctx, c, "second")
			return g.State == assign.StatePending && g.Reason == assign.ReasonAfter && slices.Equal(g.After, []string{"first"}),
				fmt.Sprintf("%+v %v", g, err)
		})
		fails := submitStep(t, c, "fails", "fail")
		third := submitStep(t, c, "third", "", assign.After("first", "second"), assign.WithDelay(3*time.Minute))
		skipped := submitStep(t, c, "skipped", "", assign.After("second", "fails"))
		again := submitStep(t, c, "again", "", assign.After("skipped"))
		anyway := submitStep(t, c, "anyway", "", assign.AfterEnded("fails", "skipped"))
		unknown := submitStep(t, c, "unknown", "", assign.AfterEnded("nobody"))
		for _, p := range []*assign.Pending[string]{first, second, third, anyway} {
			if out, err := p.Wait(ctx); err != nil || out != "output of "+p.ID() {
				t.Errorf("%s: %q, %v", p.ID(), out, err)
			}
		}
		for _, p := range []*assign.Pending[string]{skipped, again, unknown} {
			_, err := p.Wait(ctx)
			var why *assign.TaskError
			if !errors.Is(err, assign.ErrTaskSkipped) || !errors.As(err, &why) || why.Cause != "upstream" || why.Attempts != 0 {
				t.Errorf("%s: %v", p.ID(), err)
			}
		}
		if _, err := fails.Wait(ctx); !errors.Is(err, assign.ErrTaskDead) {
			t.Error(err)
		}
		order := j.entries()
		for _, pair := range [][2]string{{"first", "second"}, {"second", "third"}, {"fails", "anyway"}} {
			if slices.Index(order, pair[0]) > slices.Index(order, pair[1]) {
				t.Errorf("%v ran in the order %v", pair, order)
			}
		}
		// The outcome of the first has outlived its retention while the third had to wait for its time,
		// and leaves when nobody names it.
		g, err := assign.Get(ctx, c, "first")
		if err != nil || g.State != assign.StateSucceeded || time.Since(g.Ended) < 2*time.Minute {
			t.Errorf("%+v, %v", g, err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := assign.Get(ctx, c, "first"); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("two minutes after the last task that names it: %v", err)
		}
	})
}

// TestDependenciesOutliveSchedulers: the next scheduler finds the edges in the submissions, and the
// ends in the outcomes, though their retention is over.
func TestDependenciesOutliveSchedulers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var j journal
		a := newNode(t, s, "a", j.handle(t))
		leader(t, a)
		c := New(t, s)
		first := submitStep(t, c, "first", "", assign.With(assign.Retention(time.Minute)))
		if _, err := first.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := submitStep(t, c, "last", "", assign.After("first", "slow"))
		slow := submitStep(t, c, "late", "", assign.After("first"), assign.WithDelay(5*time.Minute))
		if _, err := last.Wait(t.Context()); !errors.Is(err, assign.ErrTaskSkipped) {
			t.Errorf("there is no slow: %v", err)
		}
		last = submitStep(t, c, "end", "", assign.After("first", "late"))
		time.Sleep(3 * time.Minute) // first is kept for those two
		a.close(t)
		time.Sleep(3 * time.Minute) // nobody leads
		b := newNode(t, s, "b", j.handle(t))
		leader(t, b)
		for _, p := range []*assign.Pending[string]{slow, last} {
			if _, err := p.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if got := j.entries(); !slices.Equal(got, []string{"first", "late", "end"}) {
			t.Errorf("they ran in the order %v", got)
		}
	})
}

// TestRequeueOfATaskThatHasWaited: a dead task that has waited is submitted again and waits for
// nothing, though the tasks that it has waited for are gone.
func TestRequeueOfATaskThatHasWaited(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var j journal
		leader(t, newNode(t, s, "a", j.handle(t)))
		c := New(t, s)
		submitStep(t, c, "first", "", assign.With(assign.Retention(time.Minute)))
		p := submitStep(t, c, "x", "fail", assign.After("first"))
		waits := submitStep(t, c, "waits", "", assign.AfterEnded("x", "slow"))
		if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		if _, err := waits.Wait(t.Context()); !errors.Is(err, assign.ErrTaskSkipped) {
			t.Errorf("there is no slow: %v", err)
		}
		time.Sleep(5 * time.Minute) // the first is gone
		if err := assign.Requeue(t.Context(), c, "x", assign.WithInput([]byte(`"well"`))); err != nil {
			t.Fatal(err)
		}
		if out, err := p.Wait(t.Context()); err != nil || out != "output of x" {
			t.Errorf("%q, %v", out, err)
		}
	})
}

func TestWrongDependenciesAreRefused(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		many := make([]string, 33)
		for i := range many {
			many[i] = fmt.Sprint("t", i)
		}
		for name, opts := range map[string][]assign.SubmitOption{
			"none": {assign.After()}, "too many": {assign.After(many...)}, "not an id": {assign.After("a b")},
			"too many in two": {assign.After(many[:20]...), assign.After(many[20:]...)},
			"both":            {assign.After("a"), assign.AfterEnded("b")},
		} {
			if _, err := assign.Submit(t.Context(), c, step, "", opts...); !errors.Is(err, assign.ErrInvalidOption) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
