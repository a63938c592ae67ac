package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// submitWithin bounds one attempt to store a submission.
const submitWithin = 5 * time.Second

// Submit stores a task and returns when it is stored: from then on it runs at least once and gets exactly one outcome,
// whoever crashes. It needs no leader. It waits for the connection, and transient faults are retried, until ctx ends;
// submitting again with the same id is safe.
//
// An input, encoded, takes as many bytes at most as the server's max_payload, 1 MiB by default, less 64 KiB. What is larger
// is to be stored elsewhere, and a reference to it submitted.
//
// Errors: ErrInvalidID, ErrInvalidOption, ErrInvalidKind, ErrOtherKind, ErrTooLarge, ErrNoClient, ErrStreamNotFound, an unfit
// stream, ErrStreamFull at once, ErrClosed, the encoder's, a permanent fault of the connection, ctx's with the last fault.
func Submit[In, Out any](ctx context.Context, to Submitter, k Kind[In, Out], in In, opts ...SubmitOption) (*Pending[Out], error) {
	data, err := encode(in)
	if err != nil {
		return nil, failed(err, "submit %s", k.name)
	}
	c, err := clientOf(ctx, to)
	if err != nil {
		return nil, err
	}
	s := submission{kind: k.name, policy: k.policy, header: k.header}
	s.apply(opts)
	if s.each != nil {
		s.refuse("WithEach is for SubmitBatch: give its options to Submit as they are")
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
	op, err := s.write(data)
	if err != nil {
		return pending{}, err
	}
	l, err := c.readyAtLast(ctx)
	if err != nil {
		return pending{}, failed(err, "submit %s", s.id)
	}
	if most := l.most.Load() - headroom; int64(len(data)) > most { // known only once there was a connection
		return pending{}, tooLarge("an input", len(data), most, storeElsewhere)
	}
	p := pending{from: c, id: s.id, kind: s.kind}
	if own {
		p.expected = c.waiters.expect(s.id)
	}
	var at string
	if s.unique == "" {
		at, err = c.store(ctx, l, s.kind, op, own)
	} else {
		at, err = c.storeUnique(ctx, l, s, op, own)
	}
	if err == nil && at == "" {
		return p, nil
	}
	c.waiters.drop(s.id, p.expected)
	if err != nil {
		return pending{}, failed(c.offline(err), "submit %s", s.id)
	}
	return pending{from: c, id: at, kind: s.kind, existing: true}, nil
}

// storeElsewhere is what to do about an input that does not fit.
const storeElsewhere = "store it elsewhere and pass a reference, or raise the server's max_payload"

// write checks a submission and makes its record.
func (s *submission) write(data []byte) (op natskv.Write, err error) {
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
			return op, fmt.Errorf("%w: %w", ErrInvalidOption, err) // the kind was checked when it was made
		}
	}
	h := []natskv.Field{{Name: headerTask, Value: s.header}}
	if s.unique != "" {
		s.keys.Unique = uniqueDigest(s.kind, s.unique)
	}
	if s.keys != (keysRecord{}) {
		if h, err = withJSON(h, headerKeys, "keys", s.keys, maxKeys); err != nil {
			return op, err
		}
	}
	if len(s.meta) > 0 {
		if h, err = withJSON(h, headerMeta, "headers", s.meta, maxMeta); err != nil {
			return op, err
		}
	}
	if s.trace != "" {
		h = append(h, natskv.Field{Name: headerTrace, Value: s.trace})
	}
	return natskv.Write{Key: queueKey + s.id, Value: data, Header: h}, nil
}

// maxKeys bounds the keys of a submission, encoded: three of maxKey bytes whose every byte takes six.
const maxKeys = 3*6*maxKey + 64

// withJSON adds a record to a header; what is how its submitter calls it.
func withJSON(h []natskv.Field, name, what string, v any, most int) ([]natskv.Field, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalidOption, what, err)
	}
	if len(data) > most {
		return nil, tooLarge(what, len(data), int64(most), "shorten them, or make them part of the input")
	}
	return append(h, natskv.Field{Name: name, Value: string(data)}), nil
}

// store writes a submission until it is known to be there; at is its id when it was found there, not put there.
//
// A write whose answer is lost is sent again, under the same condition: that there is no record of the task yet. Refused
// then says that there is one: ours from the attempt whose answer was lost, or of a task submitted before. An id of our own
// nobody else has; any other one names the task that is there, whoever has submitted it. That one is read: it may be of
// another kind.
func (c *Client) store(ctx context.Context, l *line, kind string, op natskv.Write, own bool) (at string, err error) {
	pace := newPace()
	for {
		r, err := c.write(ctx, l, op)
		last := r.Err
		switch {
		case err != nil:
			return "", err
		case r.Outcome == natskv.Refused && !own:
			var e natskv.Entry
			switch e, last = c.look(ctx, l, op.Key); {
			case last == nil && e.Revision > 0 && !e.Marker:
				id := op.Key[len(queueKey):]
				return id, sameKind(id, kind, kindOf(&e))
			case natskv.Permanent(last):
				return "", last
			case last == nil: // its outcome was dropped meanwhile, or a server lags
				last = errLags
			}
		case r.Outcome != natskv.Unknown:
			return "", nil
		}
		if err := c.pause(ctx, pace); err != nil {
			return "", errors.Join(err, last)
		}
	}
}

// kindOf is the kind of the task of a record, "" when that cannot be read: who waits for it is told what is wrong.
func kindOf(e *natskv.Entry) string {
	if o, err := decodeOutcome(e.Header, nil); err == nil && o != nil {
		return o.Kind
	}
	if p, err := parsePolicy(first(e.Header[headerTask])); err == nil {
		return p.Kind
	}
	return ""
}

// sameKind refuses a task of another kind than was meant; "" is any.
func sameKind(id, want, is string) error {
	if want == "" || is == "" || want == is {
		return nil
	}
	return fmt.Errorf("%w: %s is of %q, not of %q", ErrOtherKind, id, is, want)
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
		case judge(r.Err) == noRoom: // to try again would take the room that outcomes need
			return r, fmt.Errorf("%w (%w)", ErrStreamFull, r.Err)
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
