package client

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Handle is a task that was submitted, or looked up. It holds nothing that must be given back.
type Handle struct {
	id       string
	kind     string  // the kind that it must have, "" for any
	expected *waiter // listening since before the submission; nil if not
	existing bool
}

// Find is the handle of a task by its id alone. An empty kind means any kind.
func Find(id, kind string) Handle { return Handle{id: id, kind: kind} }

// ID is the id of the task.
func (p *Handle) ID() string { return p.id }

// Existing reports whether the submission has found the task rather than stored it.
func (p *Handle) Existing() bool { return p.existing }

// Output waits for the end of the task and returns its output. Ended is the outcome when the task
// has ended other than by success.
func (c *Client) Output(ctx context.Context, p Handle) (data []byte, ended *record.Outcome, err error) {
	o, err := c.wait(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if err := sameKind(p.id, p.kind, o.Kind); err != nil {
		return nil, nil, err
	}
	if o.Status != tasks.StatusSucceeded {
		return nil, o, nil
	}
	if data, err = c.output(ctx, o); err == nil {
		data, err = c.sealer.Open(sealed.Output, p.id, data)
	}
	return data, nil, taskerr.Doing(err, "output of %s", p.id)
}

// wait subscribes, then reads, then waits, and reads again after a reconnect and now and then.
func (c *Client) wait(ctx context.Context, p Handle) (*record.Outcome, error) {
	l, err := c.openedAtLast(ctx)
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
		leave, err := c.listen(record.Audience(p.id), p.id)
		if err != nil {
			return nil, taskerr.Doing(err, "subscribe to the outcome of %s", p.id)
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
			return nil, taskerr.ErrClosed
		case !heard:
			o, _, err := c.read(ctx, l, p.id)
			if errors.Is(err, taskerr.ErrTaskNotFound) {
				if other := c.same(ctx, l); other != nil {
					return nil, other
				}
			}
			switch {
			case o != nil:
				return o, nil
			case errors.Is(err, record.ErrRecord), errors.Is(err, nats.ErrConnectionClosed),
				errors.Is(err, taskerr.ErrOtherStream):
				return nil, c.offline(err)
			case !errors.Is(err, taskerr.ErrTaskNotFound):
				missing = time.Time{}
			// it has ended, and its outcome is no longer kept
			case p.expected == nil, !missing.IsZero() && time.Since(missing) >= recordLag:
				return nil, err
			case missing.IsZero():
				missing = time.Now()
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, taskerr.Doing(ctx.Err(), "wait for %s", p.id)
		}
	}
}
