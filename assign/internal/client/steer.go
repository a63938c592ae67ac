package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// removedFor is how long the empty record stays in the place of a removed one. A scheduler whose
// reading is interrupted for less than that hears of the removal.
const removedFor = time.Hour

// Hold is something that an operator holds back.
type Hold string

// The holds.
const (
	PausedKind    Hold = record.PauseKey
	DrainedWorker Hold = record.DrainKey
)

// Set stores or removes a hold. doing names the operation in errors.
func (c *Client) Set(ctx context.Context, doing string, of Hold, name string, hold bool, reason string) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	op := &natskv.Write{TTL: removedFor}
	if hold {
		if op, err = c.request(reason); err != nil {
			return taskerr.Doing(err, "%s %s", doing, name)
		}
	}
	err = c.replace(ctx, l, string(of)+name, func(natskv.Entry) (*natskv.Write, error) { return op, nil })
	return taskerr.Doing(c.offline(err), "%s %s", doing, name)
}

// request is the record of a steering request.
func (c *Client) request(reason string) (*natskv.Write, error) {
	value, err := json.Marshal(record.Steering{Version: 1, By: c.nc.Opts.Name, Reason: reason})
	return &natskv.Write{Value: value}, err
}

// replace writes a record at a key, over any record there, until a write is known to be stored.
// next makes the write from the present record (revision 0 if there is none). A nil write means
// that there is nothing to write.
//
// Every write replaces the revision that was read. So a late copy of a write whose answer was lost
// is refused if anything was written since, and cannot undo a later decision. A stored write also
// proves that the record that was read was the last one, whichever server answered.
func (c *Client) replace(ctx context.Context, l *line, key string,
	next func(natskv.Entry) (*natskv.Write, error),
) error {
	pace := newPace()
	pace.InitialInterval = 10 * time.Millisecond
	for {
		e, last := c.look(ctx, l, key)
		if last == nil {
			op, err := next(e)
			if err != nil || op == nil {
				return err
			}
			op.Key, op.Expect = key, e.Revision
			r, err := c.write(ctx, l, *op)
			if err != nil || r.Outcome == natskv.Won {
				return err
			}
			last = r.Err
		} else if natskv.Permanent(last) {
			return last
		}
		if err := c.pause(ctx, pace); err != nil {
			return errors.Join(err, last)
		}
	}
}
