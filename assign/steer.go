package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// removedFor is how long the empty record stands that takes the place of one that was removed: a scheduler whose reading has
// been interrupted for less hears of it.
const removedFor = time.Hour

// PauseKind keeps tasks of a kind from being handed out until [ResumeKind]; those that run go on. It is stored, needs no
// leader, and outlives it; reason is for people. Errors: ErrInvalidName, ErrClosed, permanent faults of the connection,
// ctx's: then it may be stored or not.
func PauseKind(ctx context.Context, in Submitter, kind, reason string) error {
	return steer(ctx, in, "pause", pauseKey, kind, true, reason)
}

// ResumeKind ends [PauseKind]; that the kind was not paused is no error. Errors are those of PauseKind.
func ResumeKind(ctx context.Context, in Submitter, kind string) error {
	return steer(ctx, in, "resume", pauseKey, kind, false, "")
}

// DrainWorker keeps an instance from being given tasks until [UndrainWorker], whatever session it has by then; those that it
// runs go on. It is stored, needs no leader, and outlives it; reason is for people. Errors are those of PauseKind.
func DrainWorker(ctx context.Context, in Submitter, instance, reason string) error {
	return steer(ctx, in, "drain", drainKey, instance, true, reason)
}

// UndrainWorker ends [DrainWorker]; that the instance was not drained is no error. Errors are those of PauseKind.
func UndrainWorker(ctx context.Context, in Submitter, instance string) error {
	return steer(ctx, in, "undrain", drainKey, instance, false, "")
}

// steer sets or removes the record at which something is held.
func steer(ctx context.Context, in Submitter, what, family, name string, hold bool, reason string) error {
	if !protocol.ValidName(name) {
		return fmt.Errorf("%w: %s %q", ErrInvalidName, what, name)
	}
	if len(reason) > maxMeta {
		return tooLarge("a reason", len(reason), maxMeta, "shorten it")
	}
	c, l, err := openedAtLast(ctx, in)
	if err != nil {
		return err
	}
	op := &natskv.Write{TTL: removedFor}
	if hold {
		if op, err = c.request(reason); err != nil {
			return failed(err, "%s %s", what, name)
		}
	}
	err = c.replace(ctx, l, family+name, func(natskv.Entry) (*natskv.Write, error) { return op, nil })
	return failed(c.offline(err), "%s %s", what, name)
}

// request is the record of somebody who steers.
func (c *Client) request(reason string) (*natskv.Write, error) {
	value, err := json.Marshal(steerRecord{Version: 1, By: c.nc.Opts.Name, Reason: reason})
	return &natskv.Write{Value: value}, err
}

// replace writes a record over whatever stands at a key, until a write is known to be stored. next says what, having seen
// what stands (revision 0: nothing); nil is nothing.
//
// Every write replaces the revision that was read. So a late copy of one whose answer was lost is refused when anything was
// written since, and cannot undo what somebody has decided later; and that a write was stored proves that what was read was
// the last, whoever said so.
func (c *Client) replace(ctx context.Context, l *line, key string, next func(natskv.Entry) (*natskv.Write, error)) error {
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
