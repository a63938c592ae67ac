package assign_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// listener collects what a feed tells.
type listener struct{ told []string }

// follow reads a feed until the test ends.
func follow(t *testing.T, in assign.Submitter, o assign.EventOptions) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events, err := assign.Events(ctx, in, o)
	if err != nil {
		t.Fatal(err)
	}
	r, ended := &listener{}, make(chan struct{})
	go func() {
		defer close(ended)
		for e := range events {
			text := string(e.Type) + " " + e.Task.ID
			if e.Type == assign.EventEnded {
				text += " " + string(e.Task.State) + " " + e.Task.Error
			}
			r.told = append(r.told, text)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return r
}

// since is what was told since the last call.
func (r *listener) since(t *testing.T) []string {
	natstest.Settle(t)
	told := r.told
	r.told = nil
	return told
}

// TestEventsOfAll: what begins, fails and ends is told, as far as it is asked for.
func TestEventsOfAll(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		steps := assign.NewKind[int, string]("steps", assign.Backoff(time.Second, time.Second))
		other := assign.NewKind[int, int]("other")
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := errors.Join(assign.Handle(a, steps, func(ctx context.Context, task *assign.Task[int]) (string, error) {
				time.Sleep(time.Second) // virtual
				if err := task.Progress(ctx, 0.5, nil); err != nil {
					return "", err
				}
				if time.Sleep(time.Second); task.Attempt() <= task.Input {
					return "", errors.New("once more")
				}
				return "done", nil
			}), assign.Handle(a, other, func(context.Context, *assign.Task[int]) (int, error) {
				return 0, assign.Permanent(errors.New("it is broken"))
			})); err != nil {
				t.Error(err)
			}
		})
		leader(t, a)
		c := New(t, s)
		all := follow(t, c, assign.EventOptions{})
		dead := follow(t, c, assign.EventOptions{States: []assign.State{assign.StateDead}})
		some := follow(t, c, assign.EventOptions{Kinds: []string{"steps"}, Prefix: "x"})
		headed := follow(t, c, assign.EventOptions{Headers: map[string]string{"tenant": "a"}})
		run := func(k assign.Kind[int, string], id string, fails int) {
			t.Helper()
			p, err := assign.Submit(t.Context(), c, k, fails, assign.WithID(id), assign.WithHeader("tenant", id))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); err != nil && !errors.Is(err, assign.ErrTaskDead) {
				t.Fatal(err)
			}
		}
		run(steps, "x", 1)
		run(assign.NewKind[int, string]("steps"), "a", 0)
		run(assign.NewKind[int, string]("other"), "b", 0)
		ofX := []string{"submitted x", "running x", "retrying x", "running x", "ended x succeeded "}
		ofA := []string{"submitted a", "running a", "ended a succeeded "}
		last := "ended b dead it is broken"
		for what, check := range map[string]struct{ got, want []string }{
			"all":    {all.since(t), append(slices.Concat(ofX, ofA), "submitted b", "running b", last)},
			"some":   {some.since(t), ofX},
			"dead":   {dead.since(t), []string{last}},
			"headed": {headed.since(t), ofA},
		} {
			if !slices.Equal(check.got, check.want) {
				t.Errorf("%s: %q, and not %q", what, check.got, check.want)
			}
		}
		if _, err := assign.Events(t.Context(), c, assign.EventOptions{States: []assign.State{"lost"}}); !errors.Is(err,
			assign.ErrInvalidOption) {
			t.Errorf("a state that there is not: %v", err)
		}
	})
}

// TestEventsAreMissedAloud: a receiver learns that another scheduler has taken over, and hears the
// next one.
func TestEventsAreMissedAloud(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		quick := assign.NewKind[int, int]("quick")
		register := func(a *assign.Assigner) {
			if err := assign.Handle(a, quick,
				func(context.Context, *assign.Task[int]) (int, error) { return 0, nil }); err != nil {
				t.Error(err)
			}
		}
		a := newNode(t, s, "a", register)
		leader(t, a)
		c := New(t, s)
		r := follow(t, c, assign.EventOptions{})
		a.close(t)
		if _, err := assign.Events(t.Context(), c, assign.EventOptions{}); !errors.Is(err, assign.ErrNoScheduler) {
			t.Errorf("without a scheduler: %v", err)
		}
		newNode(t, s, "b", register)
		time.Sleep(time.Minute) // virtual: b leads, and was asked to continue
		if got := r.since(t); !slices.Equal(got, []string{"missed "}) {
			t.Errorf("while another one took over: %q", got)
		}
		p, err := assign.Submit(t.Context(), c, quick, 1, assign.WithID("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.since(t); !slices.Equal(got, []string{"submitted x", "running x", "ended x succeeded "}) {
			t.Errorf("from the next scheduler: %q", got)
		}
	})
}
