package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// story is what events tell, until the channel is closed.
func story(events <-chan assign.TaskEvent) (all []string, last assign.TaskStatus) {
	for e := range events {
		text := string(e.Type)
		switch e.Type {
		case assign.EventRunning:
			text += fmt.Sprintf(" %d on %s", e.Task.Attempts, e.Task.Worker)
		case assign.EventProgress:
			text += fmt.Sprintf(" %.1f", e.Task.Progress)
		case assign.EventEnded:
			text += " " + string(e.Task.State)
		}
		all, last = append(all, text), e.Task
	}
	return all, last
}

func TestEventsOfATask(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		steps := assign.NewKind[int, string]("steps", assign.Backoff(time.Second, time.Second))
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, steps, func(ctx context.Context, task *assign.Task[int]) (string, error) {
				time.Sleep(time.Second) // virtual
				if err := task.Progress(ctx, 0.5, nil); err != nil {
					return "", err
				}
				time.Sleep(time.Second)
				if task.Attempt() == 1 {
					return "", errors.New("once more")
				}
				return "done", nil
			}); err != nil {
				t.Error(err)
			}
		})
		leader(t, a)
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, steps, 1, assign.WithDelay(2*time.Second), assign.WithHeader("h", "v"))
		if err != nil {
			t.Fatal(err)
		}
		events, err := p.Events(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, last := story(events)
		want := "[submitted running 1 on a progress 0.5 retrying running 2 on a progress 0.5 ended succeeded]"
		if got := fmt.Sprint(all); got != want {
			t.Errorf("%s, want %s\n%s", got, want, a.dump())
		}
		if last.Attempts != 2 || last.Headers["h"] != "v" || last.Kind != "steps" {
			t.Errorf("%+v", last)
		}
		// Of one that has ended there is nothing else to tell.
		if events, err = p.Events(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all, _ := story(events); fmt.Sprint(all) != "[ended succeeded]" {
			t.Errorf("afterwards: %v", all)
		}
		if _, err := assign.Find(c, steps, "never").Events(t.Context()); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("of a task that never was: %v", err)
		}
	})
}

// TestEventsOfATaskThatGoesAtOnce: the scheduler has not read the submission when it is asked to
// tell of it.
func TestEventsOfATaskThatGoesAtOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		steps := assign.NewKind[int, string]("steps")
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, steps, func(ctx context.Context, task *assign.Task[int]) (string, error) {
				time.Sleep(300 * time.Millisecond) // virtual
				return "done", task.Progress(ctx, 0.5, []byte("x"))
			}); err != nil {
				t.Error(err)
			}
		})
		leader(t, a)
		c := New(t, s)
		if _, err := assign.Submit(t.Context(), c, steps, 0); err != nil { // the client's stream is open then
			t.Fatal(err)
		}
		for i := range 20 {
			p, err := assign.Submit(t.Context(), c, steps, i)
			if err != nil {
				t.Fatal(err)
			}
			events, err := p.Events(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if all, _ := story(events); fmt.Sprint(all) != "[submitted running 1 on a progress 0.5 ended succeeded]" {
				t.Fatalf("%v\n%s", all, a.dump())
			}
		}
	})
}

// TestLastEventIsAlwaysDelivered: to a receiver that sleeps, over a scheduler's end and a lost
// connection.
func TestLastEventIsAlwaysDelivered(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", b.register(t, "a"))
		c, link := lossyClient(t, s)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		events, err := p.Events(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.allStarted(t, 1)
		link.Cut()
		a.close(t)
		n := newNode(t, s, "b", b.register(t, "b"))
		b.allStarted(t, 2)
		close(b.gate)
		if _, err := assign.Find(New(t, s), slow, p.ID()).Wait(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, n.dump())
		}
		link.Heal()
		time.Sleep(time.Minute) // virtual: nobody receives
		all, last := story(events)
		if len(all) == 0 || all[len(all)-1] != "ended succeeded" || last.Worker != "b" {
			t.Errorf("%v, %+v", all, last)
		}
	})
}

func TestEventsEndWithTheirContextAndTheClient(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		first, err := p.Events(ctx)
		if err != nil {
			t.Fatal(err)
		}
		second, err := p.Events(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		for range first {
		}
		c.Close() // though nobody receives what there is
		if all, _ := story(second); len(all) > 1 {
			t.Errorf("after the client was closed: %v", all)
		}
		if _, err := p.Events(t.Context()); !errors.Is(err, assign.ErrClosed) {
			t.Errorf("of a closed client: %v", err)
		}
	})
}
