package assign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// Pending is a task that was submitted. It is safe for concurrent use and holds nothing that must be given back.
type Pending[Out any] struct{ pending }

type pending struct {
	from     Submitter
	id       string
	kind     string  // that it must have, "" for any
	expected *waiter // listening since before the submission; nil when not
	existing bool
}

// Find returns the task of an id, whoever submitted it; whether there is one shows when it is used. Wait returns ErrOtherKind
// when it is of another kind than k, but for a k that returns []byte: that takes the output of any kind as it is.
func Find[In, Out any](in Submitter, k Kind[In, Out], id string) *Pending[Out] {
	p := pending{from: in, id: id, kind: k.name}
	if _, raw := any((*Out)(nil)).(*[]byte); raw {
		p.kind = ""
	}
	return &Pending[Out]{p}
}

// ID is the id of the task.
func (p *pending) ID() string { return p.id }

// Existing reports whether Submit has found the task rather than stored it: one of the same id, or an open one with the
// same unique key. With [WithID], when an acknowledgement was lost, the two cannot be told apart; then it is true.
func (p *pending) Existing() bool { return p.existing }

// opened returns the client of who asks, which is open then.
func opened(ctx context.Context, in Submitter) (*Client, *line, error) {
	return opening(ctx, in, (*Client).ready)
}

// openedAtLast is opened, again and again while the connection is all that is wrong.
func openedAtLast(ctx context.Context, in Submitter) (*Client, *line, error) {
	return opening(ctx, in, (*Client).readyAtLast)
}

func opening(ctx context.Context, in Submitter, ready func(*Client, context.Context) (*line, error)) (*Client, *line, error) {
	c, err := clientOf(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	l, err := ready(c, ctx)
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

// client is opened for a task.
func (p *pending) client(ctx context.Context) (*Client, *line, error) {
	if !protocol.ValidName(p.id) {
		return nil, nil, fmt.Errorf("%w: %q", ErrInvalidID, p.id)
	}
	return opened(ctx, p.from)
}

// clientAtLast is client, again and again while the connection is all that is wrong.
func (p *pending) clientAtLast(ctx context.Context) (*Client, *line, error) {
	if !protocol.ValidName(p.id) {
		return nil, nil, fmt.Errorf("%w: %q", ErrInvalidID, p.id)
	}
	return openedAtLast(ctx, p.from)
}

// Wait returns the task's output when it has ended, however often it is called. ctx bounds the waiting only: the task goes
// on. Errors: *TaskError (ErrTaskDead, ErrTaskCancelled, ErrTaskExpired), ErrTaskNotFound (also when the outcome was missed, and
// is kept no longer), ErrOtherKind, ErrOutputGone, ErrClosed, the decoder's, ctx's.
func (p *Pending[Out]) Wait(ctx context.Context) (out Out, err error) {
	o, err := p.wait(ctx)
	if err != nil {
		return out, err
	}
	if err := sameKind(p.id, p.kind, o.Kind); err != nil {
		return out, err
	}
	if err := o.err(p.id); err != nil {
		return out, err
	}
	c, err := p.from.submitter(ctx)
	if err != nil {
		return out, err
	}
	data, err := c.output(ctx, o)
	if err != nil {
		return out, failed(err, "output of %s", p.id)
	}
	if out, err = decode[Out](data); err != nil {
		return out, failed(err, "output of %s", p.id)
	}
	return out, nil
}

// Status is [Get] for this task.
func (p *pending) Status(ctx context.Context) (TaskStatus, error) { return Get(ctx, p.from, p.id) }

// read asks the stream's leader for the record: nil when the task is open.
func (c *Client) read(ctx context.Context, l *line, id string) (*outcome, natskv.Entry, error) {
	e, err := c.look(ctx, l, queueKey+id)
	switch {
	case err != nil:
		return nil, e, failed(err, "read %s", id)
	case e.Revision == 0 || e.Marker:
		return nil, e, fmt.Errorf("%w: %s", ErrTaskNotFound, id)
	}
	o, err := decodeOutcome(e.Header, e.Value)
	if err != nil {
		return nil, e, failed(err, "outcome of %s", id)
	}
	return o, e, nil
}

const (
	// readWithin bounds one reading of a record.
	readWithin = 5 * time.Second
	// recordLag is how long a server may say that it knows no record of a task, or no large output, that was stored: one that
	// leads the stream no longer, and has not noticed.
	recordLag = 15 * time.Second
)

// wait subscribes, then reads, then waits, and reads again after a reconnect and now and then.
func (p *pending) wait(ctx context.Context) (*outcome, error) {
	c, l, err := p.clientAtLast(ctx)
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
		leave, err := c.listen(audience(p.id), p.id)
		if err != nil {
			return nil, failed(err, "subscribe to the outcome of %s", p.id)
		}
		defer leave()
	}
	var missing time.Time // since when every reading has found nothing
	for {
		o, heard, closed, changed := ws.look(w)
		switch {
		case o != nil:
			return o, nil
		case closed:
			return nil, ErrClosed
		case !heard:
			o, _, err := c.read(ctx, l, p.id)
			switch {
			case o != nil:
				return o, nil
			case errors.Is(err, errRecord), errors.Is(err, nats.ErrConnectionClosed):
				return nil, c.offline(err)
			case !errors.Is(err, ErrTaskNotFound):
				missing = time.Time{}
			case p.expected == nil, !missing.IsZero() && time.Since(missing) >= recordLag: // it has ended, and its outcome is kept no longer
				return nil, err
			case missing.IsZero():
				missing = time.Now()
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
