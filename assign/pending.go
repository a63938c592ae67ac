package assign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Pending is a task that was submitted. It is safe for concurrent use and holds nothing that must be given back.
type Pending[Out any] struct{ pending }

type pending struct {
	from     Submitter
	id       string
	expected *waiter // listening since before the submission; nil when not
}

// Find returns the task of an id, whoever submitted it; whether there is one shows when it is used.
func Find[In, Out any](in Submitter, _ Kind[In, Out], id string) *Pending[Out] {
	return &Pending[Out]{pending{from: in, id: id}}
}

// client returns the client of the task, which is open then.
func (p *pending) client(ctx context.Context) (*Client, *line, error) {
	if !protocol.ValidName(p.id) {
		return nil, nil, fmt.Errorf("%w: %q", ErrInvalidID, p.id)
	}
	c, err := p.from.submitter(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := c.ready(ctx)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-c.closed:
		return nil, nil, ErrClosed
	default:
		return c, l, nil
	}
}

// ID is the id of the task.
func (p *pending) ID() string { return p.id }

// Wait returns the task's output when it has ended, however often it is called. ctx bounds the waiting only: the task goes
// on. Errors: *TaskError (ErrTaskDead, ErrTaskCancelled, ErrTaskExpired), ErrTaskNotFound, ErrClosed, the decoder's, ctx's.
func (p *Pending[Out]) Wait(ctx context.Context) (out Out, err error) {
	o, err := p.wait(ctx)
	if err != nil {
		return out, err
	}
	if err := o.err(p.id); err != nil {
		return out, err
	}
	if out, err = decode[Out](o.data); err != nil {
		return out, fmt.Errorf("assign: output of %s: %w", p.id, err)
	}
	return out, nil
}

// State is where a task stands.
type State string

const (
	// StatePending: it is stored and waits.
	StatePending State = "pending"
	// StateRunning: a worker has it.
	StateRunning State = "running"
	// StateSucceeded, StateDead, StateCancelled and StateExpired are terminal.
	StateSucceeded = State(tasks.StatusSucceeded)
	StateDead      = State(tasks.StatusDead)
	StateCancelled = State(tasks.StatusCancelled)
	StateExpired   = State(tasks.StatusExpired)
)

// TaskStatus is what is known of a task.
type TaskStatus struct {
	ID    string `json:"id"`
	Kind  string `json:"kind,omitempty"`
	State State  `json:"state"`
	// Attempts counts those that ran; Worker is who has it, or had it last.
	Attempts int    `json:"attempts,omitempty"`
	Worker   string `json:"worker,omitempty"`
	// Err is set when the task has ended other than by success.
	Err error `json:"-"`
}

// Status asks the stream, and the scheduler about a task that is open; without a scheduler an open task is pending.
// Errors: ErrTaskNotFound, ErrClosed, the connection's, ctx's.
func (p *pending) Status(ctx context.Context) (TaskStatus, error) {
	st := TaskStatus{ID: p.id, State: StatePending}
	c, l, err := p.client(ctx)
	if err != nil {
		return st, err
	}
	o, err := c.read(ctx, l, p.id)
	if err != nil {
		return st, err
	}
	if o != nil {
		st.Kind, st.State, st.Attempts, st.Worker, st.Err = o.Kind, State(o.Status), o.Attempts, o.Worker, o.err(p.id)
		return st, nil
	}
	if answer, err := c.ask(ctx, query{Op: opStatus, ID: p.id}); err == nil && answer.OK {
		st.Kind, st.State, st.Attempts, st.Worker = answer.Kind, answer.State, answer.Attempts, answer.Worker
	}
	return st, nil
}

// Cancel ends the task and returns when that is stored: its outcome is then cancelled, whatever a handler that still runs
// returns. That handler's context ends with cause ErrStopped. It needs a scheduler, and waits for one until ctx ends.
// Errors: ErrTaskEnded when the task has ended otherwise, ErrTaskNotFound, ErrClosed, ctx's.
func (p *pending) Cancel(ctx context.Context) error {
	c, l, err := p.client(ctx)
	if err != nil {
		return err
	}
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 10*time.Millisecond, time.Second
	for {
		o, err := c.read(ctx, l, p.id)
		switch {
		case errors.Is(err, ErrTaskNotFound), errors.Is(err, ErrClosed):
			return err
		case o != nil && o.Status == tasks.StatusCancelled:
			return nil
		case o != nil:
			return fmt.Errorf("%w: %s is %s", ErrTaskEnded, p.id, o.Status)
		case err == nil:
			if answer, err := c.ask(ctx, query{Op: opCancel, ID: p.id}); err == nil && answer.OK {
				return nil
			}
		}
		timer := time.NewTimer(pace.NextBackOff())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), err)
		}
	}
}

// read asks the stream's leader for the record: nil when the task is open.
func (c *Client) read(ctx context.Context, l *line, id string) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	e, err := l.stream.Get(ctx, c.nc, queueKey+id)
	if errors.Is(err, natskv.ErrRecordNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrTaskNotFound, id)
	}
	if err != nil {
		return nil, fmt.Errorf("assign: %w", err)
	}
	o, err := decodeOutcome(e.Header, e.Value)
	if err != nil {
		return nil, fmt.Errorf("assign: outcome of %s: %w", id, err)
	}
	return o, nil
}

// Between two readings of who waits. What is republished is nearly never lost.
const (
	readAfter  = time.Second
	readAtMost = 30 * time.Second
	readWithin = 5 * time.Second
)

// wait subscribes, then reads, then waits, and reads again after a reconnect and now and then.
func (p *pending) wait(ctx context.Context) (*outcome, error) {
	c, l, err := p.client(ctx)
	if err != nil {
		return nil, err
	}
	ws := &c.waiters
	var w *waiter
	if p.expected != nil {
		w = ws.joinAs(p.id, p.expected)
	} else {
		w = ws.join(p.id)
	}
	defer ws.leave(p.id, w)
	if p.expected == nil {
		sub, err := c.nc.Subscribe(c.sub.done(p.id), c.heard)
		if err != nil {
			return nil, fmt.Errorf("assign: subscribe to the outcome of %s: %w", p.id, err)
		}
		defer func() { _ = sub.Unsubscribe() }() // fails only when the connection is closed
	}
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.Multiplier, pace.MaxInterval = readAfter, 2, readAtMost
	for {
		renewed, heard, o := ws.state(w)
		if o != nil {
			return o, nil
		}
		if !heard {
			o, err := c.read(ctx, l, p.id)
			switch {
			case o != nil:
				return o, nil
			case errors.Is(err, ErrTaskNotFound) && p.expected == nil, errors.Is(err, errRecord):
				return nil, err
			}
		}
		timer := time.NewTimer(pace.NextBackOff())
		select {
		case <-w.done:
			timer.Stop()
			return w.outcome, nil
		case <-timer.C:
			ws.doubt(w)
		case <-renewed:
			timer.Stop()
			pace.Reset()
		case <-c.closed:
			timer.Stop()
			return nil, ErrClosed
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}
