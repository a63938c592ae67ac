package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// ListOptions say which tasks to list. Every part that is not empty must hold.
type ListOptions struct {
	States []tasks.State
	Kinds  []string
	Prefix string
	// Headers must be among those of the submission.
	Headers map[string]string
	// Since and Until bound when an open task was submitted, or another one ended.
	Since, Until time.Time
	Limit        int
	Cursor       string
	before       uint64 // the revision before which a task must have ended, 0: any
}

// Page is one page of tasks. Next is "" on the last page.
type Page struct {
	Tasks []Status
	Next  string
}

const (
	// scanned is how many records of the stream one page looks at, and scannedAtOnce how many it
	// asks for together.
	scanned       = 4000
	scannedAtOnce = 1000
	// lookedUpAtOnce is how many records are asked for at once, each by itself.
	lookedUpAtOnce = 16
)

// List is one page of tasks: first the open ones, then those that have ended.
func (c *Client) List(ctx context.Context, o ListOptions) (Page, error) {
	at, err := parseCursor(o.Cursor)
	if err != nil {
		return Page{}, err
	}
	l, err := c.opened(ctx)
	if err != nil {
		return Page{}, err
	}
	wantOpen := len(o.States) == 0 || slices.ContainsFunc(o.States, func(s tasks.State) bool { return !terminal(s) })
	wantEnded := len(o.States) == 0 || slices.ContainsFunc(o.States, terminal)
	if at.open && wantOpen {
		page, err := c.listOpen(ctx, l, o, at.number)
		if err == nil && page.Next == "" && wantEnded {
			page.Next = cursor{}.String()
		}
		return page, err
	}
	if !wantEnded {
		return Page{}, nil
	}
	if at.open {
		at = cursor{}
	}
	return c.listEnded(ctx, l, o, at.number)
}

// listOpen asks the scheduler for a page, the first one if another scheduler made the cursor.
func (c *Client) listOpen(ctx context.Context, l *line, o ListOptions, from uint64) (Page, error) {
	f := control.Filter{Kinds: o.Kinds, Prefix: o.Prefix}
	for _, s := range o.States {
		if !terminal(s) {
			f.States = append(f.States, s)
		}
	}
	q := control.Query{Op: control.OpList, Filter: &f, Cursor: from, Limit: o.Limit}
	a, err := c.ask(ctx, q)
	if err == nil && q.Misread(&a) {
		q.Cursor = 0
		a, err = c.ask(ctx, q)
	}
	if err != nil {
		return Page{}, c.offline(err)
	}
	if !a.OK {
		return Page{}, refusal(a)
	}
	if a.Tasks, err = c.stillOpen(ctx, l, a.Tasks, a.Ending); err != nil {
		return Page{}, taskerr.Doing(c.offline(err), "list")
	}
	var page Page
	for i := range a.Tasks {
		if t := &a.Tasks[i]; o.within(t.Submitted) {
			t.Progress = roundProgress(t.Progress)
			page.Tasks = append(page.Tasks, Status{Task: *t})
		}
	}
	if page.Tasks, err = c.withHeaders(ctx, l, page.Tasks, o.Headers); err != nil {
		return Page{}, taskerr.Doing(c.offline(err), "list")
	}
	if a.Cursor > 0 {
		page.Next = cursor{true, a.Cursor}.String()
	}
	return page, nil
}

// withHeaders are the open tasks of a page that have these headers: the scheduler does not know
// them, so the submissions are read.
func (c *Client) withHeaders(ctx context.Context, l *line, page []Status, want map[string]string) ([]Status, error) {
	if len(want) == 0 {
		return page, nil
	}
	ids := make([]string, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	if err := c.tasks(ctx, l, ids, func(i int, t found, err error) error {
		page[i].Headers = record.HeadersOf(record.First(t.Header[record.HeaderMeta]))
		return err
	}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(page, func(st Status) bool { return !includes(st.Headers, want) }), nil
}

// includes reports whether the headers have all that are wanted.
func includes(headers, want map[string]string) bool {
	for name, value := range want {
		if is, ok := headers[name]; !ok || is != value {
			return false
		}
	}
	return true
}

// within reports whether a time is within the bounds.
func (o *ListOptions) within(t time.Time) bool {
	return (o.Since.IsZero() || !t.Before(o.Since)) && (o.Until.IsZero() || t.Before(o.Until))
}

// stillOpen are the tasks of a page without those that have ended. The scheduler stores an outcome
// before it knows that the outcome is stored, and others may hear of the outcome in between. A
// caller that knows that a task has ended must not find it among the open ones. So the tasks whose
// outcomes are under way are looked up in the stream. Those that have ended there come with the
// last pages.
func (c *Client) stillOpen(ctx context.Context, l *line, page []control.Task, ending []int) ([]control.Task, error) {
	for n, i := range ending {
		// each once, in ascending order
		if i < 0 || i >= len(page) || n > 0 && i <= ending[n-1] || !naming.Valid(page[i].ID) {
			return nil, nonsense(fmt.Errorf("task %d of %d ends", i, len(page)))
		}
	}
	over, ids := make([]bool, len(page)), make([]string, len(ending))
	for n, i := range ending {
		ids[n] = page[i].ID
	}
	if err := c.tasks(ctx, l, ids, func(n int, t found, err error) error {
		over[ending[n]] = t.Revision == 0 || t.Marker || len(t.Header[record.HeaderOutcome]) > 0
		return err
	}); err != nil {
		return nil, err
	}
	left := page[:0]
	for i := range page {
		if !over[i] {
			left = append(left, page[i])
		}
	}
	return left, nil
}

// listEnded reads a part of the stream. It passes over the records of open tasks.
func (c *Client) listEnded(ctx context.Context, l *line, o ListOptions, from uint64) (Page, error) {
	var page Page
	for seen := 0; seen < scanned; {
		entries, more, err := l.stream.Scan(ctx, c.nc, natskv.Scan{
			Filter: record.QueueKey + ">", From: from, Limit: scannedAtOnce, HeadersOnly: true,
		})
		if err != nil {
			return Page{}, taskerr.Doing(c.offline(err), "list")
		}
		for i := range entries {
			e := &entries[i]
			if o.before > 0 && e.Revision >= o.before {
				return page, nil
			}
			if len(page.Tasks) == o.Limit {
				page.Next = cursor{false, e.Revision}.String()
				return page, nil
			}
			if st, ok := o.takes(e); ok {
				page.Tasks = append(page.Tasks, st)
			}
			from = e.Revision + 1
		}
		if !more {
			return page, nil
		}
		seen += len(entries)
	}
	page.Next = cursor{false, from}.String()
	return page, nil
}

// takes reports whether a record is the outcome of a task to list.
func (o *ListOptions) takes(e *natskv.Entry) (Status, bool) {
	id := e.Key[len(record.QueueKey):]
	if !strings.HasPrefix(id, o.Prefix) {
		return Status{}, false
	}
	out, err := record.DecodeOutcome(e.Header, nil)
	if err != nil || out == nil { // a record that cannot be read is left to Get, which says what is wrong with it
		return Status{}, false
	}
	if len(o.Kinds) > 0 && !slices.Contains(o.Kinds, out.Kind) ||
		len(o.States) > 0 && !slices.Contains(o.States, tasks.State(out.Status)) || !o.within(record.EndedAt(e)) {
		return Status{}, false
	}
	st := endedStatus(id, out, e)
	return st, includes(st.Headers, o.Headers)
}

// cursor is where a page begins: among the open tasks, where the scheduler has said, or at a
// revision of the stream.
type cursor struct {
	open   bool
	number uint64
}

func (c cursor) String() string {
	if c.open {
		return "open." + strconv.FormatUint(c.number, 10)
	}
	return "ended." + strconv.FormatUint(c.number, 10)
}

// CheckCursor refuses a cursor that no page has returned.
func CheckCursor(text string) error {
	_, err := parseCursor(text)
	return err
}

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{open: true}, nil
	}
	where, number, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || where != "open" && where != "ended" {
		return cursor{}, fmt.Errorf("%w: %.100q", taskerr.ErrInvalidCursor, text)
	}
	return cursor{where == "open", n}, nil
}
