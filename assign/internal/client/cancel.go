package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Cancel stores the request to cancel a task, and waits until the task has ended.
func (c *Client) Cancel(ctx context.Context, id string) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	switch ended, err := c.requestCancel(ctx, l, id); {
	case ended != nil:
		return cancelled(id, ended)
	case err != nil:
		return err
	}
	o, err := c.wait(ctx, Handle{id: id})
	switch {
	case err == nil:
		return cancelled(id, o)
	case ctx.Err() != nil:
		return errors.Join(fmt.Errorf("%w: %s", taskerr.ErrCancelPending, id), ctx.Err())
	}
	return err
}

// cancelled says what an outcome means to a caller that wanted the task to be cancelled.
func cancelled(id string, o *record.Outcome) error {
	if o.Status == tasks.StatusCancelled {
		return nil
	}
	return fmt.Errorf("%w: %s is %s", taskerr.ErrTaskEnded, id, o.Status)
}

// requestCancel stores the request to cancel a task, unless the task has ended.
//
// The condition is that the task's record is still the submission that was read, or, for an open
// member of a bundle, that there is no record of the task alone. So a request is about that very
// submission: a copy that comes late, after its answer was lost, is refused when the task has
// ended, even if the task was submitted again. A condition on the bundle would hold until the last
// of its members has ended, and over replicas members could not be cancelled at the same time.
func (c *Client) requestCancel(ctx context.Context, l *line, id string) (*record.Outcome, error) {
	op, err := c.request("")
	if err != nil {
		return nil, taskerr.Doing(err, "cancel %s", id)
	}
	op.Key = record.CancelKey + id
	pace := newPace()
	for {
		o, e, last := c.read(ctx, l, id)
		switch {
		case o != nil:
			return o, nil
		case errors.Is(last, taskerr.ErrTaskNotFound), errors.Is(last, record.ErrRecord), natskv.Permanent(last):
			return nil, last
		case last == nil:
			op.Guard = &natskv.Guard{Key: record.QueueKey + id, Revision: e.place}
			r, err := c.write(ctx, l, *op)
			if err != nil {
				return nil, taskerr.Doing(err, "cancel %s", id)
			}
			if r.Outcome == natskv.Won {
				return nil, nil
			}
			last = r.Err
		}
		if err := c.pause(ctx, pace); err != nil {
			return nil, errors.Join(err, last)
		}
	}
}
