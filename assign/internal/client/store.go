package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// submitWithin bounds one attempt to store a submission.
const submitWithin = 5 * time.Second

// errLags says that the answer came from a server that lags. The server is asked again.
var errLags = errors.New("a server that lags has answered")

// store writes a submission until its record is known to exist. at is the id of the task if the
// task was there before, and "" if this call stored it.
//
// A write whose answer is lost is sent again, under the same condition: that there is no record of
// the task yet. A refusal then says that there is a record. It is ours, from the attempt whose
// answer was lost, or that of a task submitted before. An id that the call has made names nothing
// but its own submission, also if another client has stored that. Any other id names the task that
// is there, no matter which client has submitted it. That record is read, because the task may be
// of another kind.
func (c *Client) store(ctx context.Context, l *line, kind string, op natskv.Write, own bool) (at string, err error) {
	var pace *backoff.ExponentialBackOff
	doubt := false // something is not known of an attempt
	defer func() {
		if err == nil {
			l.intake.found(at != "")
		}
	}()
	if !own {
		if at, err = c.joined(ctx, l, op.Key[len(record.QueueKey):], kind); err != nil || at != "" {
			return at, err
		}
	}
	for tries := 0; ; tries++ {
		r, err := c.writeFirst(ctx, l, op, !own, tries > 0)
		last := r.Err
		refused := (*refusedBundle)(nil)
		switch {
		case doubt && errors.Is(err, taskerr.ErrStreamFull): // which would say that nothing is stored
			return "", fmt.Errorf("%w: %w", errPerhapsStored, last)
		case err != nil:
			return "", err
		case errors.As(last, &refused):
			if stored, err := c.stored(ctx, l, refused); stored || err != nil {
				return "", err
			}
			continue
		case r.Outcome == natskv.Refused && !own:
			var e natskv.Entry
			switch e, last = c.look(ctx, l, op.Key); {
			case last == nil && e.Revision > 0 && !e.Marker:
				id := op.Key[len(record.QueueKey):]
				return id, sameKind(id, kind, kindOf(&e))
			case natskv.Permanent(last):
				return "", last
			case last == nil: // nothing, what is left of a deleted task, or a reservation; or a server lags
				op.Expect, last = e.Revision, errLags
			}
		case r.Outcome != natskv.Unknown:
			return "", nil
		}
		doubt = doubt || r.Outcome == natskv.Unknown
		if pace == nil {
			pace = newPace()
		}
		if err := c.pause(ctx, pace); err != nil {
			return "", errors.Join(err, last)
		}
	}
}

// joined returns the id of a task that is to be submitted, if it was submitted before: it stands
// alone, or is an open member of a bundle, and nothing may be written at its place. Otherwise it
// sees to it that the task will never be such a member: see claimed. Only ids that look like those
// of a client's making are looked for. A task that was deleted must not be found, so nothing is
// remembered.
func (c *Client) joined(ctx context.Context, l *line, id, kind string) (at string, err error) {
	if client, _, _ := strings.Cut(id, "."); len(client) != len(c.prefix) {
		return "", nil
	}
	for pace := newPace(); ; {
		l.seen.forget(id)
		stands := bundles.Standing{}
		e, err := c.look(ctx, l, record.QueueKey+id)
		if err == nil && (e.Revision == 0 || e.Marker) {
			e, stands, err = c.member(ctx, l, id)
		}
		switch {
		case err == nil && e.Revision > 0:
			return id, sameKind(id, kind, kindOf(&e))
		case err == nil:
			var over bool
			if over, err = c.claimed(ctx, l, id, stands); over {
				return "", err
			}
		case natskv.Permanent(err), errors.Is(err, record.ErrRecord):
			return "", err
		}
		if ended := c.pause(ctx, pace); ended != nil {
			return "", errors.Join(ended, err)
		}
	}
}

// kindOf is the kind of the task of a record, "" if that cannot be read. A call that waits for the
// task returns what is wrong.
func kindOf(e *natskv.Entry) string {
	if o, err := record.DecodeOutcome(e.Header, nil); err == nil && o != nil {
		return o.Kind
	}
	if p, err := record.ParsePolicy(record.First(e.Header[record.HeaderTask])); err == nil {
		return p.Kind
	}
	return ""
}

// sameKind refuses a task of another kind than the wanted one. "" means any kind.
func sameKind(id, want, is string) error {
	if want == "" || is == "" || want == is {
		return nil
	}
	return fmt.Errorf("%w: %s is of %q, not of %q", taskerr.ErrOtherKind, id, is, want)
}

// writeFirst is write for a submission: in the company of others at first. Once nothing is known of
// it, it goes alone. Something is known in the end of each that went in a bundle.
func (c *Client) writeFirst(ctx context.Context, l *line, op natskv.Write, named, again bool) (natskv.Result, error) {
	if again {
		return c.write(ctx, l, op)
	}
	answered := make(chan natskv.Result, 1)
	l.intake.submit(ctx, op, named, func(r natskv.Result) { answered <- r })
	return answerOf(ctx, answered)
}

// write submits a write, and waits for its result, or for the end of ctx. It returns only errors
// that trying again does not cure.
func (c *Client) write(ctx context.Context, l *line, op natskv.Write) (natskv.Result, error) {
	answered := make(chan natskv.Result, 1) // one answer, and the writer must not wait
	l.writer.Submit(op, submitWithin, func(r natskv.Result) { answered <- r })
	return answerOf(ctx, answered)
}

// answerOf waits for the result of a write, or for the end of ctx.
func answerOf(ctx context.Context, answered <-chan natskv.Result) (natskv.Result, error) {
	select {
	case r := <-answered:
		return r, lasting(&r)
	case <-ctx.Done():
		return natskv.Result{}, ctx.Err()
	}
}

// lasting is the fault of a write that trying again does not cure, nil if there is none.
func lasting(r *natskv.Result) error {
	switch {
	case r.Outcome != natskv.Unknown:
		return nil
	case errors.Is(r.Err, errPerhapsStored):
		return r.Err
	case errors.Is(r.Err, natskv.ErrClosed):
		return taskerr.ErrClosed
	case stream.Judge(r.Err) == stream.NoRoom: // another try would take the room that outcomes need
		return fmt.Errorf("%w (%w)", taskerr.ErrStreamFull, r.Err)
	case natskv.Permanent(r.Err), errors.Is(r.Err, errNoAnswer):
		return r.Err
	}
	return nil
}
