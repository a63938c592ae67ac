package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Backfill is what became of ticks of a recurrence that are past.
type Backfill struct {
	Submitted, Existing []string  // ids of their tasks
	Until               time.Time // later ticks are the scheduler's
	Next                time.Time // the first that is left, zero: none
}

// Range is which ticks are meant, both ends included, and how many of them at most.
type Range struct {
	From, To time.Time
	Limit    int
	Dry      bool // nothing is submitted
}

// BackfillRecurrence submits the tasks of ticks that no scheduler submits any more.
func (c *Client) BackfillRecurrence(ctx context.Context, name string, of Range) (b Backfill, err error) {
	b.Submitted, b.Existing = []string{}, []string{}
	l, err := c.openedAtLast(ctx)
	if err != nil {
		return b, err
	}
	r, err := c.lookRecurrence(ctx, l, name)
	if err == nil && r.Err != nil {
		err = fmt.Errorf("its definition cannot be read: define it again: %w", r.Err)
	}
	if err == nil {
		b.Until = earlier(of.To, r.Definition.Past(r.Since, r.Passed, time.Now()))
		var ticks []time.Time
		ticks, b.Next = r.Definition.Ticks(of.From, b.Until, of.Limit)
		f := filler{c: c, l: l, r: &r, dry: of.Dry, done: make([]filled, len(ticks))}
		if r.Definition.Overlap == record.OverlapAllow || of.Dry {
			err = f.together(ctx, ticks)
		} else {
			err = f.inTurn(ctx, ticks)
		}
		b.add(name, ticks, f.done)
	}
	return b, taskerr.Doing(c.offline(err), "backfill recurrence %s", name)
}

func earlier(t, u time.Time) time.Time {
	if u.Before(t) {
		return u
	}
	return t
}

// filled is what became of one tick.
type filled uint8

const (
	unknown  filled = iota // nothing is known of it
	stored                 // its task has been submitted
	existing               // its task was there
)

// add takes down what became of ticks.
func (b *Backfill) add(name string, ticks []time.Time, done []filled) {
	for i, t := range slices.Backward(ticks) {
		id := record.TickID(name, t)
		switch done[i] {
		case stored:
			b.Submitted = append(b.Submitted, id)
		case existing:
			b.Existing = append(b.Existing, id)
		default:
			b.Next = t
		}
	}
	slices.Reverse(b.Submitted)
	slices.Reverse(b.Existing)
}

// filler submits the tasks of ticks.
type filler struct {
	c    *Client
	l    *line
	r    *Recurrence
	dry  bool
	done []filled // by tick
}

// together submits tasks that may overlap.
func (f *filler) together(ctx context.Context, ticks []time.Time) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookedUpAtOnce)
	for i, t := range ticks {
		group.Go(func() (err error) {
			f.done[i], _, err = f.submit(ctx, record.TickID(f.r.Name, t), f.r.Definition.Header())
			return err
		})
	}
	return group.Wait()
}

// inTurn submits tasks that run one after the other, and after the last one that the scheduler has
// submitted.
func (f *filler) inTurn(ctx context.Context, ticks []time.Time) error {
	before := ""
	if !f.r.Last.IsZero() {
		last := record.TickID(f.r.Name, f.r.Last)
		if open, err := f.open(ctx, last); err != nil {
			return err
		} else if open {
			before = last
		}
	}
	for i, t := range ticks {
		id := record.TickID(f.r.Name, t)
		header, err := f.after(before)
		if err != nil {
			return err
		}
		done, open, err := f.submit(ctx, id, header)
		if err != nil {
			return err
		}
		if f.done[i] = done; open {
			before = id
		}
	}
	return nil
}

// submit submits the task of a tick. It reports whether the task is open.
func (f *filler) submit(ctx context.Context, id string, header []natskv.Field) (done filled, open bool, err error) {
	if f.dry {
		e, err := f.c.look(ctx, f.l, record.QueueKey+id)
		if err == nil && e.Revision > 0 && !e.Marker {
			return existing, false, nil
		}
		return stored, false, err
	}
	op := natskv.Write{Key: record.QueueKey + id, Value: f.r.Definition.Input, Header: header}
	at, err := f.c.store(ctx, f.l, "", op, false)
	if err != nil {
		return unknown, false, err
	}
	if at == "" {
		return stored, true, nil
	}
	open, err = f.open(ctx, id)
	return existing, open, err
}

// keptInTurn is for how long the outcomes of tasks that run one after the other are kept at least:
// the next one finds them.
const keptInTurn = time.Hour

// after is the header of a task that waits for the end of another one, "" for none.
func (f *filler) after(id string) ([]natskv.Field, error) {
	p, header := f.r.Definition.Task, f.r.Definition.Header()
	p.Retention = max(p.Retention, int64(keptInTurn/time.Second))
	if id != "" {
		p.Version = record.PolicyAfter
		after, err := json.Marshal(record.After{IDs: []string{id}, Ended: true})
		if err != nil {
			return nil, err
		}
		header = append(header, natskv.Field{Name: record.HeaderAfter, Value: string(after)})
	}
	policy, err := json.Marshal(p)
	for i := range header {
		if header[i].Name == record.HeaderTask {
			header[i].Value = string(policy)
		}
	}
	return header, err
}

// open reports whether a task is open.
func (f *filler) open(ctx context.Context, id string) (bool, error) {
	e, err := f.c.look(ctx, f.l, record.QueueKey+id)
	return err == nil && e.Revision > 0 && !e.Marker && len(e.Header[record.HeaderOutcome]) == 0, err
}
