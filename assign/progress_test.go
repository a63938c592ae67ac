package assign_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

var stepwise = assign.NewKind[string, string]("stepwise", assign.Backoff(100*time.Millisecond, time.Second))

// steps is where handlers of stepwise do what a test wants, and what they were given.
type steps struct {
	mu   sync.Mutex
	got  []string // checkpoints of the attempts, in order
	do   func(ctx context.Context, t *assign.Task[string], by string) (string, error)
	errs []error
}

func (s *steps) register(t *testing.T, name string) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, stepwise, func(ctx context.Context, task *assign.Task[string]) (string, error) {
			s.mu.Lock()
			s.got = append(s.got, string(task.Checkpoint()))
			s.mu.Unlock()
			return s.do(ctx, task, name)
		}); err != nil {
			t.Error(err)
		}
	}
}

func (s *steps) given() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

// note keeps an error that a handler has seen.
func (s *steps) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

func (s *steps) noted() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error(nil), s.errs...)
}

func submitStepwise(t *testing.T, c assign.Submitter) *assign.Pending[string] {
	t.Helper()
	p, err := assign.Submit(t.Context(), c, stepwise, "x", assign.WithID("step"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCheckpointIsHandedOn: the next attempt gets the last checkpoint that was stored, and one that
// is empty takes it back.
func TestCheckpointIsHandedOn(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		st := &steps{do: func(ctx context.Context, task *assign.Task[string], _ string) (string, error) {
			says := [][]byte{[]byte("one"), nil, {}}
			if n := task.Attempt(); n <= len(says) {
				if err := task.Progress(ctx, 0.5, says[n-1]); err != nil {
					return "", assign.Permanent(err)
				}
				return "", errors.New("again")
			}
			return "done", nil
		}}
		a := newNode(t, s, "a", st.register(t, "a"))
		p := submitStepwise(t, New(t, s))
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("%v\n%s", err, a.dump())
		}
		if got := fmt.Sprintf("%q", st.given()); got != `["" "one" "one" ""]` {
			t.Errorf("the attempts were given %s", got)
		}
	})
}

// TestCheckpointOutlivesItsWorker: a checkpoint that Progress has returned for is there for the
// next worker.
func TestCheckpointOutlivesItsWorker(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		saved := make(chan struct{})
		st := &steps{}
		st.do = func(ctx context.Context, task *assign.Task[string], by string) (string, error) {
			if task.Attempt() > 1 {
				return by, nil
			}
			for i := range 5 {
				if err := task.Progress(ctx, float64(i)/5, []byte(fmt.Sprint("step ", i))); err != nil {
					return "", err
				}
			}
			close(saved)
			<-ctx.Done()
			st.note(task.Progress(context.WithoutCancel(ctx), 1, []byte("too late")))
			return "", ctx.Err()
		}
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", st.register(t, "w"), workerOnly)
		p := submitStepwise(t, New(t, s))
		<-saved
		w.link.Cut()
		newNode(t, s, "x", st.register(t, "x"), workerOnly)
		if by, err := p.Wait(t.Context()); by != "x" || err != nil {
			t.Errorf("by %q, %v\n%s", by, err, a.dump())
		}
		if got := fmt.Sprintf("%q", st.given()); got != `["" "step 4"]` {
			t.Errorf("the attempts were given %s", got)
		}
		natstest.Eventually(t, "the handler that was cut off has returned", 10*time.Second, func() (bool, string) {
			errs := st.noted()
			return len(errs) == 1 && errors.Is(errs[0], assign.ErrSessionLost), fmt.Sprint(errs)
		})
		w.link.Heal()
	})
}

// TestCheckpointWaitsForAScheduler: the one that was to store it is cut off; the next one does.
func TestCheckpointWaitsForAScheduler(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		running, goOn := make(chan struct{}), make(chan struct{})
		st := &steps{}
		st.do = func(ctx context.Context, task *assign.Task[string], by string) (string, error) {
			if task.Attempt() > 1 {
				return by, nil
			}
			close(running)
			<-goOn
			if err := task.Progress(ctx, 0.5, []byte("kept")); err != nil {
				return "", assign.Permanent(err)
			}
			return "", errors.New("again")
		}
		a, z := newNode(t, s, "a", nil), newNode(t, s, "z", nil)
		newNode(t, s, "w", st.register(t, "w"), workerOnly)
		p := submitStepwise(t, New(t, s))
		first := leader(t, a, z)
		<-running
		first.link.Cut()
		close(goOn)
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("%v\n%s%s", err, a.dump(), z.dump())
		}
		if got := fmt.Sprintf("%q", st.given()); got != `["" "kept"]` {
			t.Errorf("the attempts were given %s", got)
		}
		first.link.Heal()
	})
}

// TestLastCheckpointWhileDraining: a handler whose worker shuts down saves where it is, and gives
// the task back, uncounted.
func TestLastCheckpointWhileDraining(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		running := make(chan struct{})
		st := &steps{do: func(ctx context.Context, task *assign.Task[string], by string) (string, error) {
			if by != "w" {
				return by, nil
			}
			close(running)
			<-ctx.Done()
			if err := task.Progress(ctx, 0.5, []byte("no")); !errors.Is(err, assign.ErrDraining) {
				return "", assign.Permanent(fmt.Errorf("under a context that has ended: %w", err))
			}
			return "", task.Progress(context.WithoutCancel(ctx), 0.5, []byte("here"))
		}}
		st.do = giveBack(st.do)
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", st.register(t, "w"), workerOnly)
		p := submitStepwise(t, New(t, s))
		<-running
		newNode(t, s, "x", st.register(t, "x"), workerOnly)
		w.close(t)
		if by, err := p.Wait(t.Context()); by != "x" || err != nil {
			t.Errorf("by %q, %v\n%s", by, err, a.dump())
		}
		if got := fmt.Sprintf("%q", st.given()); got != `["" "here"]` {
			t.Errorf("the attempts were given %s", got)
		}
		if status, err := p.Status(t.Context()); err != nil || status.Attempts != 1 {
			t.Errorf("%+v, %v: what was given back must not count", status, err)
		}
	})
}

// giveBack returns an error in the place of no output.
func giveBack(do func(context.Context, *assign.Task[string],
	string) (string, error),
) func(context.Context, *assign.Task[string], string) (string, error) {
	return func(ctx context.Context, task *assign.Task[string], by string) (string, error) {
		out, err := do(ctx, task, by)
		if out == "" && err == nil {
			err = errors.New("given back")
		}
		return out, err
	}
}

// TestProgressIsBounded: a handler that reports all the time costs some ten reports a second, and
// its last word is heard.
func TestProgressIsBounded(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		told, goOn := make(chan struct{}), make(chan struct{})
		st := &steps{do: func(ctx context.Context, task *assign.Task[string], by string) (string, error) {
			for i := range 1000 {
				if err := task.Progress(ctx, float64(i)/1000, nil); err != nil {
					return "", err
				}
				time.Sleep(time.Millisecond)
			}
			close(told)
			<-goOn
			return by, nil
		}}
		leader(t, newNode(t, s, "l", nil))
		newNode(t, s, "a", st.register(t, "a"), workerOnly)
		spy := natstest.Connect(t, s)
		var mu sync.Mutex
		var heard []float32
		if _, err := spy.Subscribe(said+".report.a", func(m *nats.Msg) {
			mu.Lock()
			defer mu.Unlock()
			_, _, _, list, err := frame.DecodeReport(m.Data)
			if err != nil {
				t.Error(err)
			}
			for _, f := range list {
				if f.Verb == tasks.Progressing {
					heard = append(heard, f.Fraction)
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		if err := spy.Flush(); err != nil {
			t.Fatal(err)
		}
		p := submitStepwise(t, New(t, s))
		<-told
		natstest.Eventually(t, "the last word is heard", 5*time.Second, func() (bool, string) {
			mu.Lock()
			defer mu.Unlock()
			return len(heard) > 0 && heard[len(heard)-1] == 0.999, fmt.Sprint(heard)
		})
		if n := len(heard); n < 5 || n > 15 {
			t.Errorf("%d reports in a second: %v", n, heard)
		}
		close(goOn)
		if _, err := p.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestProgressEndsWithTheTask: a handler whose task is cancelled hears that from Progress too, and
// one that has returned.
func TestProgressEndsWithTheTask(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		running := make(chan struct{})
		var left *assign.Task[string]
		st := &steps{}
		st.do = func(ctx context.Context, task *assign.Task[string], _ string) (string, error) {
			left = task
			close(running)
			<-ctx.Done()
			st.note(task.Progress(context.WithoutCancel(ctx), 0.5, []byte("x")))
			return "", ctx.Err()
		}
		newNode(t, s, "a", st.register(t, "a"))
		p := submitStepwise(t, New(t, s))
		<-running
		if err := p.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the handler has returned", 10*time.Second, func() (bool, string) {
			errs := st.noted()
			return len(errs) == 1 && errors.Is(errs[0], assign.ErrStopped), fmt.Sprint(errs)
		})
		if err := left.Progress(t.Context(), 1, nil); !errors.Is(err, assign.ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
	})
}
