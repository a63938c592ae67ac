package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Recurrence is a definition as it is stored, with its last and its next tick.
type Recurrence struct {
	Name       string
	Definition record.Definition
	Since      time.Time // when it was stored
	Last, Next time.Time // ticks, zero for none
	Passed     time.Time // the last that was submitted or passed over, zero for none
	Due        int       // ticks from Next to now, MaxDue at most
	Err        error     // why schedulers ignore it
}

// MaxDue is how many ticks of a recurrence are counted that are due.
const MaxDue = 1000

// RecurrencePage is one page of recurrences. Next is "" on the last page.
type RecurrencePage struct {
	Recurrences []Recurrence
	Next        string
}

// Recurrences is one page of what is defined: of the names that begin with a prefix, in the order
// in which they were defined last.
func (c *Client) Recurrences(ctx context.Context, prefix string, limit int, cursor string) (RecurrencePage, error) {
	from, err := parseRecurCursor(cursor)
	if err != nil {
		return RecurrencePage{}, err
	}
	l, err := c.opened(ctx)
	if err != nil {
		return RecurrencePage{}, err
	}
	page, err := c.recurrencesFrom(ctx, l, prefix, limit, from)
	return page, taskerr.Doing(c.offline(err), "recurrences")
}

func (c *Client) recurrencesFrom(ctx context.Context, l *line, prefix string, limit int,
	from uint64,
) (page RecurrencePage, err error) {
	entries, more, err := l.stream.Scan(ctx, c.nc, natskv.Scan{Filter: record.RecurKey + ">", From: from, Limit: limit})
	if err != nil {
		return page, err
	}
	if n := len(entries); more && n > 0 {
		page.Next = strconv.FormatUint(entries[n-1].Revision+1, 10)
	}
	entries = slices.DeleteFunc(entries, func(e natskv.Entry) bool {
		name := strings.TrimPrefix(e.Key, record.RecurKey)
		return e.Marker || len(e.Value) == 0 || !strings.HasPrefix(name, prefix) || !naming.Valid(name)
	})
	page.Recurrences = make([]Recurrence, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookedUpAtOnce)
	for i := range entries {
		group.Go(func() error {
			name := entries[i].Key[len(record.RecurKey):]
			last, err := c.lastTick(ctx, l, name)
			page.Recurrences[i] = storedRecurrence(name, &entries[i], last, l.most.Load())
			return err
		})
	}
	return page, group.Wait()
}

// CheckRecurCursor refuses a cursor that no page of recurrences has returned.
func CheckRecurCursor(text string) error {
	_, err := parseRecurCursor(text)
	return err
}

func parseRecurCursor(text string) (from uint64, err error) {
	if text == "" {
		return 0, nil
	}
	from, err = strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %.100q", taskerr.ErrInvalidCursor, text)
	}
	return from, nil
}

// Recurrence returns the recurrence of a name.
func (c *Client) Recurrence(ctx context.Context, name string) (Recurrence, error) {
	l, err := c.opened(ctx)
	if err != nil {
		return Recurrence{}, err
	}
	r, err := c.lookRecurrence(ctx, l, name)
	return r, taskerr.Doing(c.offline(err), "recurrence %s", name)
}

func (c *Client) lookRecurrence(ctx context.Context, l *line, name string) (Recurrence, error) {
	e, err := c.look(ctx, l, record.RecurKey+name)
	if err != nil {
		return Recurrence{}, err
	}
	if e.Marker || len(e.Value) == 0 {
		return Recurrence{}, taskerr.ErrRecurrenceNotFound
	}
	last, err := c.lastTick(ctx, l, name)
	return storedRecurrence(name, &e, last, l.most.Load()), err
}

// lastTick is the last tick of a recurrence, zero for none and for one that cannot be read.
func (c *Client) lastTick(ctx context.Context, l *line, name string) (record.Tick, error) {
	e, err := c.look(ctx, l, record.TickKey+name)
	if err != nil || len(e.Value) == 0 {
		return record.Tick{}, err
	}
	tick, _ := record.DecodeTick(e.Value)
	return tick, nil
}

// storedRecurrence reads a definition as schedulers do; most is the size of the largest message.
func storedRecurrence(name string, e *natskv.Entry, last record.Tick, most int64) Recurrence {
	r := Recurrence{Name: name, Since: e.Time, Last: shown(last.Last), Passed: shown(last.Tick)}
	r.Definition, r.Err = record.ReadDefinition(name, e, most)
	if r.Err == nil {
		_, r.Err = record.ReadPolicy(r.Definition.TaskHeader)
	}
	if r.Err != nil {
		return r
	}
	from := r.Definition.Start(e.Time)
	if r.Passed.After(from) {
		from = r.Passed
	}
	if r.Definition.Paused == nil {
		r.Next = shown(r.Definition.Schedule.Next(from))
		for at, now := r.Next, time.Now(); !at.IsZero() && !at.After(now) && r.Due < MaxDue; r.Due++ {
			at = r.Definition.Schedule.Next(at)
		}
	}
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
