package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// submitWithin bounds one attempt to store a submission.
const submitWithin = 5 * time.Second

// Submit stores a task and returns when it is stored: from then on it runs at least once and gets exactly one outcome,
// whoever crashes. It needs no leader. Transient faults are retried until ctx ends; submitting again with the same id is
// safe.
//
// Errors: ErrInvalidID, ErrInvalidOption, ErrInvalidKind, ErrTooLarge, ErrStreamNotFound, an unfit stream, ErrClosed, the
// encoder's, a permanent fault of the connection, ctx's with the last fault.
func Submit[In, Out any](ctx context.Context, to Submitter, k Kind[In, Out], in In, opts ...SubmitOption) (*Pending[Out], error) {
	data, err := encode(in)
	if err != nil {
		return nil, fmt.Errorf("assign: submit %s: %w", k.name, err)
	}
	c, err := to.submitter(ctx)
	if err != nil {
		return nil, err
	}
	s := submission{kind: k.name, policy: k.policy, header: k.header}
	for _, o := range opts {
		o(&s)
	}
	p, err := c.submit(ctx, &s, data)
	if err != nil {
		return nil, err
	}
	return &Pending[Out]{p}, nil
}

// submit stores one task.
func (c *Client) submit(ctx context.Context, s *submission, data []byte) (pending, error) {
	own := s.id == ""
	if own {
		s.id = c.newID()
	}
	op, err := s.write(data, c.nc.MaxPayload())
	if err != nil {
		return pending{}, err
	}
	l, err := c.ready(ctx)
	if err != nil {
		return pending{}, err
	}
	p := pending{from: c, id: s.id}
	if own {
		p.expected = c.waiters.expect(s.id)
	}
	var at string
	if s.unique == "" {
		at, err = c.store(ctx, l, op, own)
	} else {
		at, err = c.storeUnique(ctx, l, s, op, own)
	}
	if err == nil && at == "" {
		return p, nil
	}
	c.waiters.drop(s.id, p.expected)
	if err != nil {
		return pending{}, fmt.Errorf("assign: submit %s: %w", s.id, err)
	}
	return pending{from: c, id: at, existing: true}, nil
}

// write checks a submission and makes its record.
func (s *submission) write(data []byte, maxPayload int64) (op natskv.Write, err error) {
	switch {
	case s.kind == "":
		return op, fmt.Errorf("%w: use NewKind or MakeKind", ErrInvalidKind)
	case s.fault != nil:
		return op, s.fault
	case !protocol.ValidName(s.id):
		return op, fmt.Errorf("%w: %q", ErrInvalidID, s.id)
	case strings.HasPrefix(s.id, tickPrefix):
		return op, fmt.Errorf("%w: %q: what begins with %q is for the tasks of recurrences", ErrInvalidID, s.id, tickPrefix)
	}
	if s.header == "" {
		if s.header, err = s.policy.encode(); err != nil {
			return op, fmt.Errorf("assign: submit %s: %w: %w", s.kind, ErrInvalidKind, err)
		}
	}
	if most := maxPayload - headroom; int64(len(data)) > most {
		return op, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(data), most)
	}
	h := nats.Header{headerTask: {s.header}}
	if s.unique != "" {
		s.keys.Unique = uniqueDigest(s.kind, s.unique)
	}
	if s.keys != (keysRecord{}) {
		if err := headerJSON(h, headerKeys, s.keys, maxKeys); err != nil {
			return op, err
		}
	}
	if len(s.meta) > 0 {
		if err := headerJSON(h, headerMeta, s.meta, maxMeta); err != nil {
			return op, err
		}
	}
	if s.trace != "" {
		h[headerTrace] = []string{s.trace}
	}
	return natskv.Write{Key: queueKey + s.id, Value: data, Header: h}, nil
}

// maxKeys bounds the keys of a submission, encoded: three of maxKey bytes whose every byte takes six.
const maxKeys = 3*6*maxKey + 64

// headerJSON puts a record into a header.
func headerJSON(h nats.Header, name string, v any, most int) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalidOption, name, err)
	}
	if len(data) > most {
		return fmt.Errorf("%w: header %s has %d bytes, the limit is %d", ErrTooLarge, name, len(data), most)
	}
	h[name] = []string{string(data)}
	return nil
}

// store writes a submission until it is known to be there; at is its id when it was found there, not put there.
//
// A write whose answer is lost is sent again, under the same condition: that there is no record of the task yet. Refused
// then says that there is one: ours from the attempt whose answer was lost, or of a task submitted before. An id of our own
// nobody else has; any other one names the task that is there, whoever has submitted it.
func (c *Client) store(ctx context.Context, l *line, op natskv.Write, own bool) (at string, err error) {
	pace := newPace()
	for {
		switch r, err := c.write(ctx, l, op); {
		case err != nil:
			return "", err
		case r.Outcome == natskv.Refused && !own:
			return op.Key[len(queueKey):], nil
		case r.Outcome != natskv.Unknown:
			return "", nil
		default:
			if err := c.pause(ctx, pace); err != nil {
				return "", errors.Join(err, r.Err)
			}
		}
	}
}

// write submits writes that are stored all or none and waits for what became of them, or for the end of ctx. Its error is
// one that trying again does not cure.
func (c *Client) write(ctx context.Context, l *line, ops ...natskv.Write) (natskv.Result, error) {
	answered := make(chan natskv.Result, 1) // one answer, and the writer must not wait
	done := func(r natskv.Result) { answered <- r }
	if len(ops) == 1 {
		l.writer.Submit(ops[0], submitWithin, done)
	} else {
		select {
		case l.together <- struct{}{}:
			defer func() { <-l.together }()
		case <-ctx.Done():
			return natskv.Result{}, ctx.Err()
		}
		l.writer.SubmitEach(ops, submitWithin, done)
	}
	select {
	case r := <-answered:
		switch {
		case r.Outcome != natskv.Unknown:
			return r, nil
		case errors.Is(r.Err, natskv.ErrClosed):
			return r, ErrClosed
		case natskv.Permanent(r.Err):
			return r, r.Err
		}
		return r, nil
	case <-ctx.Done():
		return natskv.Result{}, ctx.Err()
	}
}

// newPace is the wait between two attempts at the stream.
func newPace() *backoff.ExponentialBackOff {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	return pace
}

// pause waits before the next attempt. Errors: ErrClosed, ctx's.
func (c *Client) pause(ctx context.Context, pace *backoff.ExponentialBackOff) error {
	timer := time.NewTimer(pace.NextBackOff())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}
