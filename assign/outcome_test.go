package assign_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// say is a kind whose input tells its handler what to do.
var say = assign.NewKind[string, string]("say", assign.MaxAttempts(3), assign.Backoff(50*time.Millisecond, time.Second),
	assign.Timeout(5*time.Second))

func saying(t *testing.T, a *assign.Assigner, seen chan fencing.Token) {
	err := assign.Handle(a, say, func(ctx context.Context, task *assign.Task[string]) (string, error) {
		if seen != nil {
			seen <- task.Fence()
		}
		switch task.Input {
		case "fail twice":
			if task.Attempt() < 3 {
				return "", errors.New("not yet")
			}
		case "fail":
			return "", errors.New("never")
		case "permanent":
			return "", assign.Permanent(errors.New("no use"))
		case "panic":
			panic("oh")
		case "snooze":
			if task.Attempt() < 6 {
				return "", assign.Snooze(time.Second)
			}
		case "retry after":
			if task.Attempt() == 1 {
				return "", assign.RetryAfter(10*time.Second, errors.New("busy"))
			}
		case "hang":
			<-ctx.Done()
			return "", ctx.Err()
		case "too large":
			return strings.Repeat("x", 16<<20), nil // and the quotes of JSON
		}
		return "said " + task.Input, nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOutcomes(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", func(a *assign.Assigner) { saying(t, a, nil) })
		c := New(t, s)
		for _, tt := range []struct {
			input    string
			want     error
			cause    string
			attempts int
			least    time.Duration
			most     time.Duration
			contains string
		}{
			{input: "hello", attempts: 1, most: time.Second},
			{input: "fail twice", attempts: 3, least: 130 * time.Millisecond, most: time.Second},
			{input: "fail", want: assign.ErrTaskDead, cause: "max_attempts", attempts: 3, contains: "never", most: time.Second},
			{
				input: "permanent", want: assign.ErrTaskDead, cause: "permanent", attempts: 1, contains: "no use",
				most: time.Second,
			},
			{
				input: "panic", want: assign.ErrTaskDead, cause: "max_attempts", attempts: 3, contains: "panic: oh",
				most: time.Second,
			},
			{input: "snooze", attempts: 6, least: 5 * time.Second, most: 7 * time.Second},
			{input: "retry after", attempts: 2, least: 10 * time.Second, most: 12 * time.Second},
			{
				input: "hang", want: assign.ErrTaskDead, cause: "max_attempts", attempts: 3, least: 15 * time.Second,
				most: 17 * time.Second, contains: "timeout",
			},
			{
				input: "too large", want: assign.ErrTaskDead, cause: "permanent", attempts: 1, contains: "the limit is",
				most: time.Second,
			},
		} {
			began := time.Now()
			p, err := assign.Submit(t.Context(), c, say, tt.input)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			out, err := p.Wait(ctx)
			cancel()
			took := time.Since(began)
			st, statusErr := p.Status(t.Context())
			if statusErr != nil || st.Attempts != tt.attempts || st.Worker != "a" || st.Kind != "say" {
				t.Errorf("%s: status %+v, %v; want %d attempts", tt.input, st, statusErr, tt.attempts)
			}
			if took < tt.least || took > tt.most {
				t.Errorf("%s: took %v, want %v to %v", tt.input, took, tt.least, tt.most)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: %q, %v; want %v", tt.input, out, err, tt.want)
			}
			if tt.want == nil {
				if out != "said "+tt.input {
					t.Errorf("%s: %q", tt.input, out)
				}
				continue
			}
			var e *assign.TaskError
			if !errors.As(err, &e) || e.Cause != tt.cause || e.Attempts != tt.attempts ||
				!strings.Contains(err.Error(), tt.contains) {
				t.Errorf("%s: %v (%+v)", tt.input, err, e)
			}
			if tt.input == "panic" && !strings.Contains(e.Stack, "outcome_test.go") {
				t.Errorf("the stack does not show where it panicked:\n%s", e.Stack)
			}
		}
		if t.Failed() {
			t.Log(a.dump())
		}
	})
}

func TestRepeatedSubmitReturnsTheSameTask(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		ran := newTally()
		newNode(t, s, "a", doubling(t, "a", ran))
		c := New(t, s)
		for _, in := range []int{1, 2, 3} {
			p, err := assign.Submit(t.Context(), c, double, in, assign.WithID("once"))
			if err != nil {
				t.Fatal(err)
			}
			if out, err := p.Wait(t.Context()); out != 2 || err != nil {
				t.Errorf("submitted with %d: %d, %v", in, out, err)
			}
		}
		if out, err := assign.Find(c, double, "once").Wait(t.Context()); out != 2 || err != nil {
			t.Errorf("found: %d, %v", out, err)
		}
		if ran.of["once"] != 1 {
			t.Errorf("ran %d times", ran.of["once"])
		}
		if _, err := assign.Find(c, double, "never").Wait(t.Context()); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("a task that was never submitted: %v", err)
		}
		if _, err := assign.Submit(t.Context(), c, double, 1, assign.WithID("no good")); !errors.Is(err,
			assign.ErrInvalidID) {
			t.Errorf("a bad id: %v", err)
		}
	})
}

func TestSubmitNeedsNoLeader(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, double, 21)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := p.Status(t.Context()); err != nil || st.State != assign.StatePending {
			t.Errorf("%+v, %v", st, err)
		}
		newNode(t, s, "a", doubling(t, "a", newTally()))
		if out, err := p.Wait(t.Context()); out != 42 || err != nil {
			t.Errorf("%d, %v", out, err)
		}
	})
}

func TestDelayAndDeadline(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", b.register(t, "a"))
		leader(t, a)
		c := New(t, s)
		delayed, err := assign.Submit(t.Context(), c, slow, "later", assign.WithDelay(3*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		expiring, err := assign.Submit(t.Context(), c, slow, "soon over", assign.WithDeadline(2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := expiring.Wait(t.Context()); !errors.Is(err, assign.ErrTaskExpired) {
			t.Errorf("past its deadline: %v", err)
		}
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("expired after %v", took)
		}
		if b.startedTotal() != 1 {
			t.Errorf("%d started, want the one with the deadline", b.startedTotal())
		}
		close(b.gate)
		if _, err := delayed.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 2900*time.Millisecond {
			t.Errorf("the delayed one ended after %v", took)
		}
	})
}

func TestCancel(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", b.register(t, "a"), slots(1))
		c := New(t, s)
		running := submitSlow(t, c, 1)[0]
		b.allStarted(t, 1)
		waiting := submitSlow2(t, c)
		natstest.Eventually(t, "the scheduler knows who runs", 5*time.Second, func() (bool, string) {
			st, err := running.Status(t.Context())
			return err == nil && st.State == assign.StateRunning && st.Worker == "a", st.Worker
		})
		for _, p := range []*assign.Pending[string]{running, waiting} {
			if err := p.Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskCancelled) {
				t.Errorf("cancelled: %v", err)
			}
			if err := p.Cancel(t.Context()); err != nil {
				t.Errorf("cancelled again: %v", err)
			}
		}
		natstest.Eventually(t, "the handler was cancelled", 5*time.Second, func() (bool, string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return errors.Is(b.causes["a"], assign.ErrStopped), ""
		})
		close(b.gate)
		p, err := assign.Submit(t.Context(), c, slow, "next")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("the slot was not given back: %v\n%s", err, a.dump())
		}
		if err := p.Cancel(t.Context()); !errors.Is(err, assign.ErrTaskEnded) {
			t.Errorf("cancel after the end: %v", err)
		}
	})
}

func TestDrainLetsTasksFinishAndGivesTheRestBack(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", b.register(t, "w"), workerOnly)
		c := New(t, s)
		all := submitSlow(t, c, 3)
		b.allStarted(t, 3)
		v := newNode(t, s, "v", b.register(t, "v"), workerOnly)
		w.close(t) // its handlers do not finish within the drain timeout
		if n := a.count(isReassigned("released")); n != 3 {
			t.Errorf("%d tasks were given back, want 3\n%s", n, a.dump())
		}
		b.allStarted(t, 6)
		close(b.gate)
		waitAll(t, all, a, v)
		for _, p := range all {
			if st, err := p.Status(t.Context()); err != nil || st.Attempts != 1 || st.Worker != "v" {
				t.Errorf("%+v, %v: what was given back must not count", st, err)
			}
		}
		if b.most > 1 {
			t.Errorf("%d handlers of one task at once", b.most)
		}
	})
}

func TestFenceOrdersAttempts(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		seen := make(chan fencing.Token, 8)
		newNode(t, s, "a", func(a *assign.Assigner) { saying(t, a, seen) })
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, say, "fail twice", assign.WithID("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var guard fencing.Guard
		first, second, third := <-seen, <-seen, <-seen
		if first.Role != "task/x" || first.Holder != "a" || first.Compare(second) >= 0 || second.Compare(third) >= 0 {
			t.Errorf("tokens %v, %v, %v", first, second, third)
		}
		if err := guard.Admit(second); err != nil {
			t.Error(err)
		}
		if err := guard.Admit(first); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("an earlier attempt: %v", err)
		}
	})
}

func TestLostOutcomeIsReadAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		newNode(t, s, "a", b.register(t, "a"))
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(), noReports...)...)
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		b.allStarted(t, 1)
		link.CutOneWay(natsrun.ToClient) // what is announced is lost
		close(b.gate)
		time.Sleep(time.Second)
		link.Heal()
		if _, err := p.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func isRejected(reason string) func(event.Event) bool {
	return func(e event.Event) bool {
		r, ok := e.(event.TaskRejected)
		return ok && r.Reason == reason
	}
}
