package assign

import (
	"context"
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Cancel ends the task: its outcome is then cancelled, whatever a handler that still runs returns. That handler's context
// ends with a cause that is ErrStopped and ErrTaskCancelled. The request is stored first, which needs no scheduler; then Cancel
// waits until the task has ended.
//
// Errors: ErrTaskEnded when the task has ended otherwise, ErrTaskNotFound, ErrInvalidID, ErrClosed. When ctx ends after the
// request was stored, ErrCancelPending and ctx's: it takes effect when a scheduler leads. When ctx ends before, ctx's.
func (p *pending) Cancel(ctx context.Context) error {
	c, l, err := p.clientAtLast(ctx)
	if err != nil {
		return err
	}
	switch ended, err := c.requestCancel(ctx, l, p.id); {
	case ended != nil:
		return cancelled(p.id, ended)
	case err != nil:
		return err
	}
	o, err := (&pending{from: c, id: p.id}).wait(ctx)
	switch {
	case err == nil:
		return cancelled(p.id, o)
	case ctx.Err() != nil:
		return errors.Join(fmt.Errorf("%w: %s", ErrCancelPending, p.id), ctx.Err())
	}
	return err
}

// cancelled says what an outcome means to who wanted it to be cancelled.
func cancelled(id string, o *outcome) error {
	if o.Status == tasks.StatusCancelled {
		return nil
	}
	return fmt.Errorf("%w: %s is %s", ErrTaskEnded, id, o.Status)
}

// requestCancel stores the request to cancel a task, unless it has ended.
//
// The condition is that the task's record is still the submission that was read. So a request is about that very submission:
// a copy that comes late, after its answer was lost, is refused when the task has ended, also if it was submitted anew.
func (c *Client) requestCancel(ctx context.Context, l *line, id string) (*outcome, error) {
	op, err := c.request("")
	if err != nil {
		return nil, failed(err, "cancel %s", id)
	}
	op.Key = cancelKey + id
	pace := newPace()
	for {
		o, e, last := c.read(ctx, l, id)
		switch {
		case o != nil:
			return o, nil
		case errors.Is(last, ErrTaskNotFound), errors.Is(last, errRecord), natskv.Permanent(last):
			return nil, last
		case last == nil:
			op.Guard = &natskv.Guard{Key: queueKey + id, Revision: e.Revision}
			r, err := c.write(ctx, l, *op)
			if err != nil {
				return nil, failed(err, "cancel %s", id)
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
