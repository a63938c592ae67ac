package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Order is what a task is to do: the input of every kind.
type Order struct {
	Run       time.Duration // each attempt
	Fail      int           // so many attempts fail first
	Snooze    bool          // the first attempt is put off
	Permanent bool          // the first attempt fails for good
	Panic     bool          // it fails by panicking
	Steps     int           // checkpoints that it leaves on its way
	Stubborn  time.Duration // it continues for so long after its context has ended
	Tenant    string        // whose turn it takes, if it is of a kind that is fair
}

// Kinds are the kinds of the tasks here: their policies differ, what they do is in the order.
var Kinds = []assign.Kind[Order, string]{Plain, Timed, Few, Fair}

// Plain, timed with a timeout for each attempt, few with limits, and fair with turns of tenants.
var (
	Plain = assign.NewKind[Order, string]("plain", assign.Backoff(100*time.Millisecond, 2*time.Second),
		assign.MaxAttempts(4), assign.Retention(48*time.Hour))
	Timed = assign.NewKind[Order, string]("timed", assign.Backoff(100*time.Millisecond, 2*time.Second),
		assign.MaxAttempts(3), assign.Retention(48*time.Hour),
		assign.Timeout(3*time.Second), assign.Priority(20))
	Few = assign.NewKind[Order, string]("few", assign.Backoff(100*time.Millisecond, 2*time.Second), assign.MaxAttempts(4),
		assign.Retention(48*time.Hour),
		assign.Concurrency(atOnce), assign.KeyLimit(1), assign.Slots(2))
	Fair = assign.NewKind[Order, string]("fair", assign.Backoff(100*time.Millisecond, 2*time.Second),
		assign.MaxAttempts(4), assign.Retention(48*time.Hour), assign.FairBy(func(o Order) string { return o.Tenant }))
)

// Whole is the kind of the completions of groups.
var Whole = assign.NewKind[assign.GroupRef, string]("whole", assign.Backoff(100*time.Millisecond, 2*time.Second),
	assign.Retention(48*time.Hour))

// attemptsOf is how many attempts of a task may fail, by kind.
var attemptsOf = map[string]int{Plain.Name(): 4, Timed.Name(): 3, Few.Name(): 4, Fair.Name(): 4}

// atOnce is how many tasks of the kind few run at once.
const atOnce = 3

var errOrdered = errors.New("it fails as it was ordered to")

// Output is what an attempt of a task returns: it names the attempt.
func Output(id string, epoch uint64, n uint32) string {
	return fmt.Sprintf("%s by %d.%d", id, epoch, n)
}

// run is the handler of each of them.
func (p *Process) run(ctx context.Context, t *assign.Task[Order]) (out string, err error) {
	return p.noted(t.ID(), t.Fence(), t.Input.Stubborn, t.Checkpoint(), func(r *Run) error {
		return p.execute(ctx, t, r)
	})
}

// complete is the handler of the completions of groups.
func (p *Process) complete(_ context.Context, t *assign.Task[assign.GroupRef]) (string, error) {
	return p.noted(t.ID(), t.Fence(), 0, t.Checkpoint(), func(*Run) error { return nil })
}

// noted writes down when an attempt began and ended, and as what.
func (p *Process) noted(id string, token fencing.Token, stubborn time.Duration, checkpoint []byte,
	do func(*Run) error,
) (out string, err error) {
	r := p.a.Ledger.begin(Run{
		Task: id, Epoch: token.Epoch, N: token.Seq, Process: p.String(), Instance: p.Name,
		Session: bridge.Number(p.Session), Stubborn: stubborn, From: time.Now(),
	}, checkpoint)
	how := "panicked"
	defer func() { p.a.Ledger.end(r, how, time.Now()) }()
	if err = do(r); err != nil {
		how = err.Error()
		return "", err
	}
	how = succeeded
	return Output(id, token.Epoch, token.Seq), nil
}

func (p *Process) execute(ctx context.Context, t *assign.Task[Order], r *Run) error {
	o := t.Input
	for range o.Steps {
		if err := p.wait(ctx, o, o.Run/time.Duration(o.Steps+1)); err != nil {
			return err
		}
		step := p.a.Ledger.step(r)
		switch err := t.Progress(ctx, 0.5, fmt.Append(nil, step)); {
		case err == nil:
			p.a.Ledger.stored(r, step)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
	_ = t.Progress(ctx, 0.9, nil) // it is for those who look
	if err := p.wait(ctx, o, o.Run/time.Duration(o.Steps+1)); err != nil {
		return err
	}
	switch {
	case o.Permanent:
		return assign.Permanent(errOrdered)
	case o.Snooze && t.Attempt() == 1:
		return assign.Snooze(200 * time.Millisecond)
	case t.Attempt() <= o.Fail && o.Panic:
		panic(errOrdered)
	case t.Attempt() <= o.Fail:
		return errOrdered
	}
	return nil
}

// causeOf is why a handler's context has ended, in a word.
func causeOf(ctx context.Context) string {
	for _, c := range []struct {
		is   error
		word string
	}{
		{assign.ErrTaskCancelled, "cancelled"},
		{assign.ErrTaskExpired, "expired"},
		{assign.ErrStopped, "stopped"},
		{assign.ErrTimeout, "timeout"},
		{assign.ErrSessionLost, "session lost"},
		{assign.ErrDraining, "draining"},
	} {
		if errors.Is(context.Cause(ctx), c.is) {
			return c.word
		}
	}
	return context.Cause(ctx).Error()
}

// wait works for a while.
func (p *Process) wait(ctx context.Context, o Order, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	}
	p.a.Tally.Add("ended/"+causeOf(ctx), 1)
	time.Sleep(o.Stubborn)
	return context.Cause(ctx)
}
