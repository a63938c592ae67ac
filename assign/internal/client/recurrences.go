package client

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// maxRecurrences bounds what Recurrences reads.
const maxRecurrences = 10_000

// scanAll reads every record of a family. It passes over empty ones.
func (c *Client) scanAll(ctx context.Context, l *line, family string, each func(name string, e *natskv.Entry)) error {
	from, n := uint64(0), 0
	for more := true; more; {
		entries, next, err := l.stream.Scan(ctx, c.nc, natskv.Scan{Filter: family + ">", From: from, Limit: scannedAtOnce})
		if err != nil {
			return err
		}
		more = next
		for i := range entries {
			e := &entries[i]
			if from = e.Revision + 1; e.Marker || len(e.Value) == 0 {
				continue
			}
			if n++; n > maxRecurrences {
				return errors.New("there are more than 10,000: remove some with RemoveRecurrence")
			}
			each(e.Key[len(family):], e)
		}
	}
	return nil
}

// Recurrence is a definition as it is stored, with its last and its next tick.
type Recurrence struct {
	Name       string
	Definition record.Definition
	Since      time.Time // when it was stored
	Last, Next time.Time // ticks, zero for none
	Err        error     // why schedulers ignore it
}

// Recurrences returns all recurrences that are defined.
func (c *Client) Recurrences(ctx context.Context) ([]Recurrence, error) {
	l, err := c.opened(ctx)
	if err != nil {
		return nil, err
	}
	last := map[string]time.Time{}
	if err := c.scanAll(ctx, l, record.TickKey, func(name string, e *natskv.Entry) {
		if tick, err := record.DecodeTick(e.Value); err == nil {
			last[name] = tick
		}
	}); err != nil {
		return nil, taskerr.Doing(c.offline(err), "recurrences")
	}
	var all []Recurrence
	if err := c.scanAll(ctx, l, record.RecurKey, func(name string, e *natskv.Entry) {
		all = append(all, storedRecurrence(name, e, last[name], l.most.Load()))
	}); err != nil {
		return nil, taskerr.Doing(c.offline(err), "recurrences")
	}
	return all, nil
}

// storedRecurrence reads a definition as schedulers do; most is the size of the largest message.
func storedRecurrence(name string, e *natskv.Entry, last time.Time, most int64) Recurrence {
	last = shown(last)
	r := Recurrence{Name: name, Since: e.Time, Last: last}
	r.Definition, r.Err = record.ReadDefinition(name, e, most)
	if r.Err == nil {
		_, r.Err = record.ReadPolicy(r.Definition.TaskHeader)
	}
	if r.Err != nil {
		return r
	}
	from := e.Time
	if last.After(from) {
		from = last
	}
	r.Next = shown(r.Definition.Schedule.Next(from))
	return r
}

// shown is a moment if JSON can hold it in every zone, else the zero time. The record of a tick may
// name any year, and schedulers do not believe one that is far ahead.
func shown(t time.Time) time.Time {
	if year := t.UTC().Year(); year < 1 || year > 9998 {
		return time.Time{}
	}
	return t
}
