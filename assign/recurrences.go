package assign

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Recurrence is a definition as it is stored, and how far it is.
type Recurrence struct {
	Name   string        `json:"name"`
	Kind   string        `json:"kind"`
	Spec   string        `json:"spec"`
	Zone   string        `json:"zone"`
	Missed Missed        `json:"missed"`
	Grace  time.Duration `json:"grace_ns"`
	// Since is when the definition was stored.
	Since time.Time `json:"since"`
	// Last is the last tick that was submitted, zero for none; Next the one that is. It lies in the past while nobody leads.
	Last time.Time `json:"last,omitzero"`
	Next time.Time `json:"next,omitzero"`
	// Error says why schedulers ignore the definition, "" if they do not.
	Error string `json:"error,omitempty"`
}

// maxRecurrences bounds what Recurrences reads.
const maxRecurrences = 10_000

// Recurrences are all that are defined. Errors: ErrClosed, the connection's, ctx's, and that there are more than 10,000.
func Recurrences(ctx context.Context, in Submitter) ([]Recurrence, error) {
	c, l, err := opened(ctx, in)
	if err != nil {
		return nil, err
	}
	last := map[string]time.Time{}
	if err := c.scanAll(ctx, l, tickKey, func(name string, e *natskv.Entry) {
		if tick, err := decodeTick(e.Value); err == nil {
			last[name] = tick
		}
	}); err != nil {
		return nil, failed(c.offline(err), "recurrences")
	}
	var all []Recurrence
	if err := c.scanAll(ctx, l, recurKey, func(name string, e *natskv.Entry) {
		all = append(all, recurrence(name, e, last[name], l.most.Load()))
	}); err != nil {
		return nil, failed(c.offline(err), "recurrences")
	}
	return all, nil
}

// recurrence reads a definition as schedulers do; most is the size of the largest message.
func recurrence(name string, e *natskv.Entry, last time.Time, most int64) Recurrence {
	last = shown(last)
	out := Recurrence{Name: name, Since: e.Time, Last: last}
	d, err := readDefinition(name, e, most)
	out.Kind, out.Spec, out.Zone, out.Missed = d.Task.Kind, d.Spec, d.Zone, Missed(d.Missed)
	if err == nil {
		_, err = readPolicy(d.task)
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Grace = time.Duration(d.Grace) * time.Millisecond
	from := e.Time
	if last.After(from) {
		from = last
	}
	out.Next = shown(d.schedule.Next(from))
	return out
}

// shown is a moment that JSON can hold, in whatever zone it is, else none: the record of a tick may name any year, and schedulers do
// not believe one that is far ahead.
func shown(t time.Time) time.Time {
	if year := t.UTC().Year(); year < 1 || year > 9998 {
		return time.Time{}
	}
	return t
}

// scanAll reads every record of a family that is not empty.
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
				return errors.New("there are more than 10,000: remove some with Unrecur")
			}
			each(e.Key[len(family):], e)
		}
	}
	return nil
}
