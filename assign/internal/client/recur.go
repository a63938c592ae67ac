package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nuid"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/sealed"
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
	open := r.Input
	if r.Input, err = c.sealer.Seal(sealed.Input, sealed.RecurrenceOf(name), open); err != nil {
		return taskerr.Doing(err, "recur %s", name)
	}
	if _, err := r.Encode(name, l.most.Load()); err != nil {
		return err
	}
	err = c.replace(ctx, l, record.RecurKey+name, func(e natskv.Entry) (*natskv.Write, error) {
		if r.Same(e.Value) || c.sameButSealed(name, e.Value, *r, open) {
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

// sameButSealed reports whether a stored definition is the same but for its sealed input, which
// differs each time. One that another key has sealed is not the same: it is sealed again.
func (c *Client) sameButSealed(name string, stored []byte, r record.Recurrence, open []byte) bool {
	var is struct{ Input []byte }
	if c.sealer == nil || json.Unmarshal(stored, &is) != nil || sealed.KeyOf(is.Input) != sealed.KeyOf(r.Input) {
		return false
	}
	input, err := c.sealer.Open(sealed.Input, sealed.RecurrenceOf(name), is.Input)
	r.Input = is.Input
	return err == nil && bytes.Equal(input, open) && r.Same(stored)
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

// PauseRecurrence stores that a recurrence has no ticks. One that is paused stays as it is.
func (c *Client) PauseRecurrence(ctx context.Context, name, reason string) error {
	by := record.Steering{Version: 1, By: c.nc.Opts.Name, Reason: reason}
	return c.changeRecurrence(ctx, "pause", name, func(r *record.Recurrence, e *natskv.Entry) (changed bool) {
		if r.Paused != nil {
			return false
		}
		r.Pause(e.Time, by)
		return true
	})
}

// ResumeRecurrence ends PauseRecurrence.
func (c *Client) ResumeRecurrence(ctx context.Context, name string) error {
	return c.changeRecurrence(ctx, "resume", name, func(r *record.Recurrence, e *natskv.Entry) (changed bool) {
		if r.Paused == nil {
			return false
		}
		r.Resume(e.Time)
		return true
	})
}

// changeRecurrence writes a changed definition in the place of the one that was read.
func (c *Client) changeRecurrence(ctx context.Context, doing, name string,
	change func(r *record.Recurrence, e *natskv.Entry) (changed bool),
) error {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return err
	}
	err = c.replace(ctx, l, record.RecurKey+name, func(e natskv.Entry) (*natskv.Write, error) {
		if e.Marker || len(e.Value) == 0 {
			return nil, taskerr.ErrRecurrenceNotFound
		}
		d, err := record.ReadDefinition(name, &e, l.most.Load())
		if err != nil {
			return nil, fmt.Errorf("its definition cannot be read: define it again: %w", err)
		}
		r := d.Recurrence
		if !change(&r, &e) {
			return nil, nil
		}
		value, err := json.Marshal(r)
		return &natskv.Write{Value: value}, err
	})
	return taskerr.Doing(c.offline(err), "%s recurrence %s", doing, name)
}

// RunRecurrence submits the task of a recurrence now, and returns its id.
func (c *Client) RunRecurrence(ctx context.Context, name string) (id string, err error) {
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return "", err
	}
	r, err := c.lookRecurrence(ctx, l, name)
	if err == nil && r.Err != nil {
		err = fmt.Errorf("its definition cannot be read: define it again: %w", r.Err)
	}
	if err != nil {
		return "", taskerr.Doing(c.offline(err), "run recurrence %s", name)
	}
	unique := nuid.Next()
	id = record.RunID(name, unique[len(unique)-record.RunDigits:])
	op := natskv.Write{Key: record.QueueKey + id, Value: r.Definition.Input, Header: r.Definition.Header()}
	_, err = c.store(ctx, l, r.Definition.Task.Kind, op, true)
	return id, taskerr.Doing(c.offline(err), "run recurrence %s", name)
}
