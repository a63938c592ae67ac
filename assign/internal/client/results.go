package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// output is the task's output. A large output is not in the outcome, which names its object.
func (c *Client) output(ctx context.Context, o *record.Outcome) ([]byte, error) {
	if !o.Object {
		return o.Data, nil
	}
	at, err := record.DecodeObject(o.Data)
	if err != nil {
		return nil, err
	}
	pace, began := newPace(), time.Now()
	// Each try has twice the time of the one before, in case the connection is slow.
	for patience := at.Patience(); ; patience = min(2*patience, time.Hour) {
		data, err := c.object(ctx, at, patience)
		missing := errors.Is(err, natskv.ErrRecordNotFound) || errors.Is(err, taskerr.ErrObjectsNotFound)
		switch {
		case err == nil:
			return data, nil
		case missing && time.Since(began) >= recordLag:
			return nil, fmt.Errorf("%w (%s of %d bytes: %w)", taskerr.ErrOutputGone, at.Name, at.Size, err)
		case errors.Is(err, record.ErrRecord), natskv.Permanent(err) && !missing:
			return nil, err
		}
		if ended := c.pause(ctx, pace); ended != nil {
			return nil, errors.Join(ended, err)
		}
	}
}

// object reads one object. The digest in the outcome identifies the very attempt.
func (c *Client) object(ctx context.Context, at record.Object, patience time.Duration) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, release := natsconn.UntilReconnect(ctx, c.nc, c.closed, taskerr.ErrClosed)
	defer func() { err = release(err) }()
	cfg := c.cfg
	cfg.AutoCreate = false
	store, err := stream.OpenObjects(ctx, c.nc, cfg)
	if err != nil {
		return nil, err
	}
	return store.Read(ctx, at)
}
