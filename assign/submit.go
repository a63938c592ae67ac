package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// SubmitOption changes how one task is treated.
type SubmitOption func(*submission)

type submission struct {
	id     string
	policy policy
	trace  string
}

// WithID names the task. A task of that name that was submitted before, and whose outcome is still kept, is returned in its
// place, whatever its input was.
func WithID(id string) SubmitOption { return func(s *submission) { s.id = id } }

// WithDelay makes the task due that long after its submission.
func WithDelay(d time.Duration) SubmitOption {
	return func(s *submission) { s.policy.Delay = atLeastOne(d) }
}

// WithDeadline ends the task that long after its submission: it expires, whether it runs or waits.
func WithDeadline(d time.Duration) SubmitOption {
	return func(s *submission) { s.policy.Deadline = atLeastOne(d) }
}

// With changes what the kind says, for this task.
func With(opts ...KindOption) SubmitOption {
	return func(s *submission) {
		for _, o := range opts {
			o(&s.policy)
		}
	}
}

// WithTraceParent passes a W3C traceparent on to the handler, see [Task.TraceParent].
func WithTraceParent(t string) SubmitOption { return func(s *submission) { s.trace = t } }

// submitWithin bounds one attempt to store a submission.
const submitWithin = 5 * time.Second

// Submit stores a task and returns when it is stored: from then on it runs at least once and gets exactly one outcome,
// whoever crashes. It needs no leader. Transient faults are retried until ctx ends; submitting again with the same id is
// safe.
//
// Errors: ErrInvalidID, ErrTooLarge, ErrStreamNotFound, an unfit stream, ErrClosed, the encoder's, a permanent fault of the
// connection, ctx's with the last fault.
func Submit[In, Out any](ctx context.Context, to Submitter, k Kind[In, Out], in In, opts ...SubmitOption) (*Pending[Out], error) {
	data, err := encode(in)
	if err != nil {
		return nil, fmt.Errorf("assign: submit %s: %w", k.name, err)
	}
	s := submission{policy: k.policy}
	for _, o := range opts {
		o(&s)
	}
	c, err := to.submitter(ctx)
	if err != nil {
		return nil, err
	}
	w, err := c.submit(ctx, &s, data)
	if err != nil {
		return nil, err
	}
	return &Pending[Out]{pending{from: c, id: s.id, expected: w}}, nil
}

func (c *Client) submit(ctx context.Context, s *submission, data []byte) (*waiter, error) {
	own := s.id == ""
	if own {
		s.id = c.newID()
	}
	switch err := s.policy.check(); {
	case !protocol.ValidName(s.id):
		return nil, fmt.Errorf("%w: %q", ErrInvalidID, s.id)
	case err != nil:
		return nil, fmt.Errorf("assign: submit %s: %w", s.policy.Kind, err)
	}
	l, err := c.ready(ctx)
	if err != nil {
		return nil, err
	}
	if most := c.nc.MaxPayload() - headroom; int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(data), most)
	}
	header, err := json.Marshal(s.policy)
	if err != nil {
		return nil, fmt.Errorf("assign: submit %s: %w", s.policy.Kind, err)
	}
	op := natskv.Write{Key: queueKey + s.id, Value: data, Header: nats.Header{headerTask: {string(header)}}}
	if s.trace != "" {
		op.Header[headerTrace] = []string{s.trace}
	}
	var w *waiter
	if own {
		w = c.waiters.expect(s.id)
	}
	if err := c.store(ctx, l.writer, op); err != nil {
		c.waiters.drop(s.id, w)
		return nil, fmt.Errorf("assign: submit %s: %w", s.id, err)
	}
	return w, nil
}

// store writes a submission until it is known to be there. One that is refused is there: it is ours, from an attempt whose
// answer was lost, or the task was submitted before.
func (c *Client) store(ctx context.Context, w *natskv.Writer, op natskv.Write) error {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	for {
		answered := make(chan natskv.Result, 1) // one answer, and the writer must not wait
		w.Submit(op, submitWithin, func(r natskv.Result) { answered <- r })
		var r natskv.Result
		select {
		case r = <-answered:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch {
		case r.Outcome != natskv.Unknown:
			return nil
		case errors.Is(r.Err, natskv.ErrClosed):
			return ErrClosed
		case natskv.Permanent(r.Err):
			return r.Err
		}
		timer := time.NewTimer(pace.NextBackOff())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), r.Err)
		}
	}
}
