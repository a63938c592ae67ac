package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Requeue submits a dead task once more, under the same id. A nil input is the one that it had.
func (c *Client) Requeue(ctx context.Context, id string, input []byte) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	if input != nil {
		if input, err = c.sealer.Seal(sealed.Input, id, input); err != nil {
			return taskerr.Doing(err, "requeue %s", id)
		}
	}
	if most := l.most.Load() - record.Headroom; int64(len(input)) > most {
		return taskerr.Doing(taskerr.TooLarge("an input", len(input), most, record.StoreElsewhere), "requeue %s", id)
	}
	if err := c.requeue(ctx, l, id, input); err != nil {
		return taskerr.Doing(c.offline(err), "requeue %s", id)
	}
	c.waiters.doubt(id)
	return nil
}

// requeue replaces the outcome by a submission, under the condition that the outcome is the one
// that was read.
//
// When the answer is lost, the same write is tried again. Only a requeue replaces the outcome of a
// dead task; the scheduler and other clients may write it again as it is. So a record at a later
// revision that is not the outcome of the same attempt proves that the task was requeued since the
// first look, by this client or another: once is enough.
func (c *Client) requeue(ctx context.Context, l *line, id string, input []byte) error {
	pace := newPace()
	var dead uint64 // the revision of the outcome that is to be replaced
	var last tasks.Attempt
	for {
		o, e, err := c.read(ctx, l, id)
		switch {
		case dead > 0 && e.Revision > dead && (o == nil || o.Last() != last):
			return nil
		case err != nil:
		case o == nil:
			return fmt.Errorf("%w: it is open", taskerr.ErrNotDead)
		case o.Status != tasks.StatusDead:
			return fmt.Errorf("%w: it is %s", taskerr.ErrNotDead, o.Status)
		default:
			dead, last = e.Revision, o.Last()
			if err = c.revive(ctx, l, id, input, o, &e.Entry); err == nil {
				return nil
			}
		}
		for _, lasting := range []error{
			taskerr.ErrTaskNotFound, taskerr.ErrNotDead, taskerr.ErrKeyTaken, taskerr.ErrClosed,
			record.ErrRecord, taskerr.ErrUnknownKey,
		} {
			if errors.Is(err, lasting) {
				return err
			}
		}
		if natskv.Permanent(err) {
			return err
		}
		if ended := c.pause(ctx, pace); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// revive tries once. A task with a unique key takes the key before.
func (c *Client) revive(ctx context.Context, l *line, id string, input []byte, o *record.Outcome,
	e *natskv.Entry,
) error {
	if len(e.Header[record.HeaderTask]) == 0 {
		return fmt.Errorf("%w: its input was not kept: submit it again", taskerr.ErrNotDead)
	}
	var h []natskv.Field
	for _, name := range []string{
		record.HeaderTask, record.HeaderKeys, record.HeaderMeta, record.HeaderAfter, record.HeaderTrace,
	} {
		value := record.First(e.Header[name])
		if name == record.HeaderTask {
			var err error
			if value, err = record.WithoutWaiting(value); err != nil {
				return err
			}
		}
		if value != "" {
			h = append(h, natskv.Field{Name: name, Value: value})
		}
	}
	switch key := sealed.KeyOf(e.Value); {
	case input == nil:
		input = e.Value
	case key != "" && c.sealer == nil: // its workers take nothing that is not sealed
		return &taskerr.SealedError{Task: id, Part: string(sealed.Input), Key: key, Err: taskerr.ErrUnknownKey}
	}
	op := natskv.Write{Key: record.QueueKey + id, Value: input, Header: h, Expect: e.Revision}
	keys, err := record.ParseKeys(record.First(e.Header[record.HeaderKeys]))
	if err != nil {
		return err
	}
	if keys != nil && keys.Unique != "" {
		return c.requeueUnique(ctx, l, id, record.Unique{Kind: o.Kind}, keys.Unique, op)
	}
	switch r, err := c.write(ctx, l, op); {
	case err != nil:
		return err
	case r.Outcome != natskv.Won:
		return r.Err
	}
	return nil
}
