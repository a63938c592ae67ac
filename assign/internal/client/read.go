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

// read asks the stream's leader for the record. The outcome is nil if the task is open.
func (c *Client) read(ctx context.Context, l *line, id string) (*record.Outcome, found, error) {
	e, err := c.task(ctx, l, id)
	switch {
	case err != nil:
		return nil, e, taskerr.Doing(err, "read %s", id)
	case e.Revision == 0 || e.Marker:
		return nil, e, fmt.Errorf("%w: %s", taskerr.ErrTaskNotFound, id)
	}
	o, err := record.DecodeOutcome(e.Header, e.Value)
	if err != nil {
		return nil, e, taskerr.Doing(err, "outcome of %s", id)
	}
	return o, e, nil
}

// recordLag is how long a server may deny a record of a task, or a large output, that was stored.
// Such a server has lost leadership of the stream without noticing.
const recordLag = 15 * time.Second

// look reads a record. A missing record has revision 0.
func (c *Client) look(ctx context.Context, l *line, key string) (natskv.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, record.ReadWithin)
	defer cancel()
	e, err := l.stream.Get(ctx, c.nc, key)
	if errors.Is(err, natskv.ErrRecordNotFound) {
		return natskv.Entry{}, nil
	}
	return e, err
}

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
