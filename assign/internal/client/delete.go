package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// markedFor is how long a deleted task leaves a marker.
const markedFor = time.Second

// Delete removes the outcome of a task, under the condition that it is the one that was read. One
// that a scheduler keeps for an open task stays. It is written again when it is kept, so it is not
// removed by a client that has read it before. A scheduler lets it go after the last such task.
//
// When the answer is lost, the same write is tried again. A missing record then, or another one,
// proves that the outcome is gone.
func (c *Client) Delete(ctx context.Context, id string) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	if err := c.delete(ctx, l, id); err != nil {
		return taskerr.Doing(c.offline(err), "delete %s", id)
	}
	l.seen.forget(id)
	c.waiters.doubt(id)
	return nil
}

func (c *Client) delete(ctx context.Context, l *line, id string) error {
	pace := newPace()
	var ended uint64 // the revision of the outcome that is to be removed
	var last tasks.Attempt
	for {
		o, e, err := c.read(ctx, l, id)
		switch {
		case ended > 0 && (e.Revision > ended && (o == nil || o.Last() != last) || errors.Is(err, taskerr.ErrTaskNotFound)):
			return nil
		case errors.Is(err, taskerr.ErrTaskNotFound), errors.Is(err, record.ErrRecord), natskv.Permanent(err):
			return err
		case err != nil:
		case o == nil:
			return fmt.Errorf("%w: cancel it first", taskerr.ErrTaskOpen)
		case needed(&e.Entry):
			return taskerr.ErrTaskNeeded
		default:
			ended, last = e.Revision, o.Last()
			var r natskv.Result
			r, err = c.write(ctx, l, natskv.Write{
				Key: record.QueueKey + id, Delete: true, TTL: markedFor, Expect: e.Revision,
			})
			if err != nil {
				return err
			}
			if r.Outcome == natskv.Won {
				return nil
			}
			err = r.Err
		}
		if over := c.pause(ctx, pace); over != nil {
			return errors.Join(over, err)
		}
	}
}

// needed reports whether an outcome is kept for an open task.
func needed(outcome *natskv.Entry) bool {
	_, stays := record.Stays(outcome.Header)
	return stays
}
