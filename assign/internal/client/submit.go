package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// submitWithin bounds one attempt to store a submission.
const submitWithin = 5 * time.Second

// Submit stores one task.
func (c *Client) Submit(ctx context.Context, s *Submission, data []byte) (Handle, error) {
	own := s.ID == ""
	if own {
		s.ID = c.newID()
	}
	op, err := s.write(data)
	if err != nil {
		return Handle{}, err
	}
	l, err := c.readyAtLast(ctx)
	if err != nil {
		return Handle{}, taskerr.Doing(err, "submit %s", s.ID)
	}
	if most := l.most.Load() - record.Headroom; int64(len(data)) > most { // known only once there was a connection
		return Handle{}, taskerr.TooLarge("an input", len(data), most, record.StoreElsewhere)
	}
	p := Handle{id: s.ID, kind: s.Kind}
	if own {
		p.expected = c.waiters.expect(s.ID)
	}
	var at string
	if s.Unique == "" {
		at, err = c.store(ctx, l, s.Kind, op, own)
	} else {
		at, err = c.storeUnique(ctx, l, s, op, own)
	}
	if err == nil && at == "" {
		return p, nil
	}
	c.waiters.drop(s.ID, p.expected)
	if err != nil {
		return Handle{}, taskerr.Doing(c.offline(err), "submit %s", s.ID)
	}
	return Handle{id: at, kind: s.Kind, existing: true}, nil
}

// write checks a submission and makes its record.
func (s *Submission) write(data []byte) (op natskv.Write, err error) {
	switch {
	case s.Kind == "":
		return op, fmt.Errorf("%w: use NewKind or MakeKind", taskerr.ErrInvalidKind)
	case s.Fault != nil:
		return op, s.Fault
	case !protocol.ValidName(s.ID):
		return op, fmt.Errorf("%w: %q", taskerr.ErrInvalidID, s.ID)
	case strings.HasPrefix(s.ID, record.TickPrefix):
		return op, fmt.Errorf("%w: %q: what begins with %q is for the tasks of recurrences", taskerr.ErrInvalidID, s.ID, record.TickPrefix)
	}
	if s.Header == "" {
		if s.Header, err = s.Policy.Encode(); err != nil {
			return op, fmt.Errorf("%w: %w", taskerr.ErrInvalidOption, err) // the kind was checked when it was made
		}
	}
	h := []natskv.Field{{Name: record.HeaderTask, Value: s.Header}}
	if s.Unique != "" {
		s.Keys.Unique = record.UniqueDigest(s.Kind, s.Unique)
	}
	if s.Keys != (record.Keys{}) {
		if h, err = withJSON(h, record.HeaderKeys, "keys", s.Keys, record.MaxKeys); err != nil {
			return op, err
		}
	}
	if len(s.Meta) > 0 {
		if h, err = withJSON(h, record.HeaderMeta, "headers", s.Meta, record.MaxMeta); err != nil {
			return op, err
		}
	}
	if s.Trace != "" {
		h = append(h, natskv.Field{Name: record.HeaderTrace, Value: s.Trace})
	}
	return natskv.Write{Key: record.QueueKey + s.ID, Value: data, Header: h}, nil
}

// withJSON adds a record to a header; what is how its submitter calls it.
func withJSON(h []natskv.Field, name, what string, v any, most int) ([]natskv.Field, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", taskerr.ErrInvalidOption, what, err)
	}
	if len(data) > most {
		return nil, taskerr.TooLarge(what, len(data), int64(most), "shorten them, or make them part of the input")
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
				id := op.Key[len(record.QueueKey):]
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
	if o, err := record.DecodeOutcome(e.Header, nil); err == nil && o != nil {
		return o.Kind
	}
	if p, err := record.ParsePolicy(record.First(e.Header[record.HeaderTask])); err == nil {
		return p.Kind
	}
	return ""
}

// sameKind refuses a task of another kind than was meant; "" is any.
func sameKind(id, want, is string) error {
	if want == "" || is == "" || want == is {
		return nil
	}
	return fmt.Errorf("%w: %s is of %q, not of %q", taskerr.ErrOtherKind, id, is, want)
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
			return r, taskerr.ErrClosed
		case stream.Judge(r.Err) == stream.NoRoom: // to try again would take the room that outcomes need
			return r, fmt.Errorf("%w (%w)", taskerr.ErrStreamFull, r.Err)
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

// pause waits before the next attempt. Errors: taskerr.ErrClosed, ctx's.
func (c *Client) pause(ctx context.Context, pace *backoff.ExponentialBackOff) error {
	timer := time.NewTimer(pace.NextBackOff())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closed:
		return taskerr.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}
