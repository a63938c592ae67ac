package client

import (
	"context"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Define stores a recurrence, and replaces one of the same name. The same definition is not written
// again. One with the same schedule continues the ticks of the one that it replaces, and one of a
// higher version stays.
func (c *Client) Define(ctx context.Context, name string, r *record.Recurrence) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	if _, err := r.Encode(name, l.most.Load()); err != nil {
		return err
	}
	err = c.replace(ctx, l, record.RecurKey+name, func(e natskv.Entry) (*natskv.Write, error) {
		if r.Same(e.Value) {
			return nil, nil // also ours, when its acknowledgement was lost
		}
		r := *r
		if !r.Succeed(e.Value, e.Time) {
			return nil, nil
		}
		value, err := r.Encode(name, l.most.Load())
		return &natskv.Write{Value: value}, err
	})
	return taskerr.Doing(c.offline(err), "recur %s", name)
}

// Undefine removes a recurrence.
func (c *Client) Undefine(ctx context.Context, name string) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	tried := false
	err = c.replace(ctx, l, record.RecurKey+name, func(e natskv.Entry) (*natskv.Write, error) {
		switch {
		case len(e.Value) > 0:
			tried = true
			return &natskv.Write{TTL: removedFor}, nil
		case tried: // it is gone, by us when our acknowledgement was lost
			return nil, nil
		}
		return nil, taskerr.ErrRecurrenceNotFound
	})
	return taskerr.Doing(c.offline(err), "remove recurrence %s", name)
}
