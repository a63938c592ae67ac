package permissions_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// Kinds of tasks whose input is as large as one wants: for the worker, but for the last, the
// scheduler's own process's.
var (
	measure  = assign.NewKind[[]byte, int]("measure", assign.Backoff(time.Millisecond, time.Second))
	complete = assign.NewKind[assign.GroupRef, string]("complete") // of groups
	// double is of the worker too, which declares it, with an output as large.
	double = assign.NewKind[[]byte, []byte]("double", assign.MaxAttempts(1), assign.Concurrency(100))
	own    = assign.NewKind[[]byte, int]("own")
)

// inputs are so many and so large that a worker's frame takes several messages.
const (
	inputs    = 16
	inputSize = 300 << 10
)

// TestPublishedSetsSuffice: with the published permissions every class does its part, through
// hand-overs, failed attempts, frames of several messages and the death of a worker, and the server
// has nothing to complain about.
func TestPublishedSetsSuffice(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settles(t)
		var heard denials
		owner := as(t, s, "owner", &heard)
		owns(t, owner)

		a := session(t, "a")
		handsOut := assigner(t, a, own, func(context.Context, []byte) error { return nil })
		open(t, a, as(t, s, "a", &heard))
		schedules := make(chan *election.Term, 16)
		campaign(t, a, election.RoleConfig{Role: scheduler, Lead: func(ctx context.Context, term *election.Term) error {
			schedules <- term
			return handsOut.Lead(ctx, term)
		}})
		term := next(t, "a leads "+scheduler, schedules)

		b := session(t, "b")
		open(t, b, as(t, s, "b", &heard))
		measures := make(chan *election.Term, 16)
		eb := campaign(t, b, election.RoleConfig{Role: metrics, Lead: idle(measures)})
		next(t, "b leads "+metrics, measures)
		if ok, err := eb.ValidateToken(within(t, time.Minute)); !ok || err != nil {
			t.Errorf("b proves that it leads: %v, %v", ok, err)
		}
		if err := term.Validate(within(t, time.Minute)); err != nil {
			t.Errorf("a proves that it leads: %v", err)
		}

		link := s.Link()
		w := session(t, "w", workerOnly)
		began, hold, failed := make(chan struct{}), make(chan struct{}), false
		assigner(t, w, measure, func(ctx context.Context, input []byte) error {
			if string(input) == "once more" && !failed {
				failed = true
				return errors.New("not yet")
			}
			if len(input) < inputSize {
				return nil
			}
			select {
			case began <- struct{}{}:
			case <-hold:
			case <-ctx.Done():
			}
			<-hold
			return nil
		})
		open(t, w, as(t, s, "w", &heard, append(link.Options(), nats.ReconnectWait(50*time.Millisecond),
			nats.PingInterval(500*time.Millisecond), nats.MaxPingsOutstanding(2))...))

		observer, err := election.Observe(t.Context(), as(t, s, "o", &heard), bucket, election.WithWorkers())
		if err != nil {
			t.Fatal(err)
		}
		defer observer.Close()
		sees(t, observer, "a, b and w", "a", "b", "w")
		candidates, err := election.Observe(t.Context(), as(t, s, "o", &heard), bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer candidates.Close()
		sees(t, candidates, "a and b", "a", "b")

		client, err := assign.NewClient(as(t, s, "s", &heard), assign.ClientConfig{Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		pending := []*assign.Pending[int]{submit(t, client, bytes.Repeat([]byte("x"), inputSize))}
		<-began // from here on the rest waits for a place, and is handed out together
		for i := 1; i < inputs; i++ {
			pending = append(pending, submit(t, client, bytes.Repeat([]byte("x"), inputSize+i)))
		}
		close(hold)
		for i, p := range pending {
			outcome(t, p, inputSize+i)
		}
		outcome(t, submit(t, client, []byte("once more")), len("once more"))
		outcome(t, submitAs(t, handsOut, own, []byte("by a")), len("by a"))
		for _, by := range []assign.Submitter{client, handsOut} {
			p := submit(t, by, nil, assign.WithDelay(time.Hour))
			if err := p.Cancel(within(t, time.Minute)); err != nil {
				t.Errorf("cancel: %v", err)
			}
			if _, err := p.Wait(within(t, time.Minute)); !errors.Is(err, assign.ErrTaskCancelled) {
				t.Errorf("what was cancelled ended with %v", err)
			}
		}

		asks(t, client)
		if _, err := assign.GetOverview(within(t, time.Minute), handsOut); err != nil {
			t.Errorf("overview by the scheduler's own process: %v", err)
		}
		manages(t, as(t, s, "k", &heard), "")
		looks(t, as(t, s, "pg", &heard), pending[0].ID())

		// The worker vanishes; its session and its record are ended by the scheduler's process.
		link.Cut()
		sees(t, observer, "that the worker is gone", "a", "b")
		link.Heal()
		sees(t, observer, "that the worker is back", "a", "b", "w")

		// Both leaders hand their roles to one who ranks higher, and get them back.
		z := session(t, "z")
		open(t, z, owner)
		for _, role := range []string{scheduler, metrics} {
			higher := make(chan *election.Term, 16)
			campaign(t, z, election.RoleConfig{Role: role, Priority: 9, AllowPriorityTakeover: true, Lead: idle(higher)})
			next(t, "z is handed "+role, higher)
		}
		leave(t, z)
		term = next(t, "a leads again after z", schedules)
		next(t, "b leads again after z", measures)

		// An operator steers, and evicts.
		operator, err := election.Observe(t.Context(), as(t, s, "op", &heard), bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer operator.Close()
		if _, err := operator.StepDown(within(t, time.Minute), scheduler, term.Epoch()); err != nil {
			t.Errorf("step-down: %v", err)
		}
		term = next(t, "a leads again after it stepped down", schedules)
		natstest.Eventually(t, "the operator sees the term", time.Minute, func() (bool, string) {
			info, _ := operator.Role(scheduler)
			return info.Epoch == term.Epoch(), fmt.Sprintf("%+v", info)
		})
		if err := operator.Evict(within(t, time.Minute), scheduler, term.Epoch()); err != nil {
			t.Errorf("evict: %v", err)
		}
		term = next(t, "a leads again after it was evicted", schedules)
		outcome(t, submit(t, client, []byte("abc")), 3)

		keeps(t, as(t, s, "f", &heard), as(t, s, "r", &heard), term.Token())
		guards(t, owner, as(t, s, "g", &heard), "b")
		for _, process := range []*election.Session{w, b, a} {
			leave(t, process)
		}
		for _, o := range []*election.Observer{observer, candidates, operator} {
			o.Close()
		}
		client.Close()
		if said := heard.all(t); said != "" {
			t.Errorf("the server complains:\n%s", said)
		}
	}, published(t))
}

// owns makes the bucket, the stream and the fenced store.
func owns(t *testing.T, nc *nats.Conn) {
	t.Helper()
	for _, name := range []string{bucket, ledger} {
		if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: name}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: namespace, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := assign.CreateObjects(t.Context(), nc, assign.ClientConfig{Namespace: namespace}); err != nil {
		t.Fatal(err)
	}
	if _, err := assign.Find(c, measure, "nothing").Status(t.Context()); !errors.Is(err, assign.ErrTaskNotFound) {
		t.Fatalf("the stream is not there: %v", err)
	}
}

// assigner handles tasks of one kind: its handler does something else first, and returns how long
// the input is.
func assigner(t *testing.T, s *election.Session, kind assign.Kind[[]byte, int],
	first func(context.Context, []byte) error,
) *assign.Assigner {
	t.Helper()
	a, err := assign.New(s, assign.Config{Namespace: namespace, Role: scheduler, Slots: 64})
	if err != nil {
		t.Fatal(err)
	}
	if kind.Name() == measure.Name() {
		err = assign.Handle(a, double, func(ctx context.Context, task *assign.Task[[]byte]) ([]byte, error) {
			if string(task.Input) == "dies" {
				return nil, assign.Permanent(errors.New("as it shall"))
			}
			return append(task.Input, task.Input...), task.Progress(ctx, 0.5, []byte("half"))
		})
		if err != nil {
			t.Fatal(err)
		}
		err = assign.Handle(a, complete, func(_ context.Context, task *assign.Task[assign.GroupRef]) (string, error) {
			return task.Input.Group, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err = assign.Handle(a, kind, func(ctx context.Context, task *assign.Task[[]byte]) (int, error) {
		if err := first(ctx, task.Input); err != nil {
			return 0, err
		}
		return len(task.Input), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func submit(t *testing.T, to assign.Submitter, input []byte, opts ...assign.SubmitOption) *assign.Pending[int] {
	t.Helper()
	return submitAs(t, to, measure, input, opts...)
}

func submitAs(t *testing.T, to assign.Submitter, kind assign.Kind[[]byte, int], input []byte,
	opts ...assign.SubmitOption,
) *assign.Pending[int] {
	t.Helper()
	p, err := assign.Submit(within(t, time.Minute), to, kind, input, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func outcome(t *testing.T, p *assign.Pending[int], want int) {
	t.Helper()
	if n, err := p.Wait(within(t, time.Minute)); n != want || err != nil {
		t.Errorf("the outcome of %s is %d, %v; want %d", p.ID(), n, err, want)
	}
}

// sees waits until an observer sees exactly these members.
func sees(t *testing.T, o *election.Observer, what string, want ...string) {
	t.Helper()
	natstest.Eventually(t, "the observer sees "+what, time.Minute, func() (bool, string) {
		var all []string
		for _, m := range o.Members() {
			if m.Described {
				all = append(all, m.Instance)
			}
		}
		slices.Sort(all)
		return slices.Equal(all, want), fmt.Sprint(all)
	})
}
