package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
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
