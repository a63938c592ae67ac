package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nuid"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

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
