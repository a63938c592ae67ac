package assign

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// ListOptions say which tasks to list. Every part that is not empty must hold.
type ListOptions struct {
	States []State
	Kinds  []string
	// Prefix begins the ids.
	Prefix string
	// Limit is how many tasks a page holds at most, up to 500 (100).
	Limit int
	// Cursor is "" for the first page, then the Next of the page before.
	Cursor string
}

// ListPage is one page of tasks. It may hold fewer than Limit, even none, though Next is not "": what one page costs is
// bounded, however few tasks match.
type ListPage struct {
	Tasks []TaskStatus `json:"tasks"`
	Next  string       `json:"next,omitempty"` // "" for the last page
}

const (
	defaultPage = 100
	// scanned is how many records of the stream one page looks at, and scannedAtOnce how many it asks for together.
	scanned       = 4000
	scannedAtOnce = 1000
	// lookedUpAtOnce is how many records are asked for at once, each by itself.
	lookedUpAtOnce = 16
)

// List lists tasks page by page: first those that are open, which the scheduler tells in no particular order, then those
// that have ended and are still kept, in the order in which they did, which are read from the stream. A task that ends while
// its pages are being listed may be listed twice; when another scheduler takes over meanwhile, open ones may be left out. One
// whose outcome was known before, to whomever, is not listed as open.
//
// Without a scheduler only those that have ended can be listed: give States that are terminal.
//
// Errors: ErrNoScheduler, ErrInvalidCursor, ErrInvalidOption, ErrClosed, the connection's, ctx's.
func List(ctx context.Context, in Submitter, o ListOptions) (ListPage, error) {
	if o.Limit == 0 {
		o.Limit = defaultPage
	}
	if o.Limit < 1 || o.Limit > maxPage {
		return ListPage{}, fmt.Errorf("%w: Limit %d: use 1 to %d", ErrInvalidOption, o.Limit, maxPage)
	}
	for _, s := range o.States {
		if !s.known() {
			return ListPage{}, fmt.Errorf("%w: there is no state %.220q: use the constants of State", ErrInvalidOption, s)
		}
	}
	// An id goes on where the prefix ends: that may be at a dot, or be the whole.
	if o.Prefix != "" && !protocol.ValidName(o.Prefix) && !protocol.ValidName(o.Prefix+"x") {
		return ListPage{}, fmt.Errorf("%w: Prefix %.220q: no id begins so: use letters, digits, - _ = / and dots between them", ErrInvalidOption, o.Prefix)
	}
	for _, k := range o.Kinds {
		if !protocol.ValidName(k) {
			return ListPage{}, fmt.Errorf("%w: Kinds: %.220q cannot name a kind: use letters, digits, - _ = / and dots between them, 200 bytes at most", ErrInvalidOption, k)
		}
	}
	at, err := parseCursor(o.Cursor)
	if err != nil {
		return ListPage{}, err
	}
	c, l, err := opened(ctx, in)
	if err != nil {
		return ListPage{}, err
	}
	wantOpen := len(o.States) == 0 || slices.ContainsFunc(o.States, func(s State) bool { return !s.Terminal() })
	wantEnded := len(o.States) == 0 || slices.ContainsFunc(o.States, State.Terminal)
	if at.open && wantOpen {
		page, err := c.listOpen(ctx, l, o, at.number)
		if err == nil && page.Next == "" && wantEnded {
			page.Next = cursor{}.String()
		}
		return page, err
	}
	if !wantEnded {
		return ListPage{Tasks: []TaskStatus{}}, nil
	}
	if at.open {
		at = cursor{}
	}
	return c.listEnded(ctx, l, o, at.number)
}

// listOpen asks the scheduler for a page.
func (c *Client) listOpen(ctx context.Context, l *line, o ListOptions, from uint64) (ListPage, error) {
	f := listFilter{Kinds: o.Kinds, Prefix: o.Prefix}
	for _, s := range o.States {
		if !s.Terminal() {
			f.States = append(f.States, s)
		}
	}
	a, err := c.ask(ctx, query{Op: opList, Filter: &f, Cursor: from, Limit: o.Limit})
	if err != nil {
		return ListPage{}, c.offline(err)
	}
	if !a.OK {
		return ListPage{}, refusal(a)
	}
	if a.Tasks, err = c.stillOpen(ctx, l, a.Tasks, a.Ending); err != nil {
		return ListPage{}, failed(c.offline(err), "list")
	}
	page := ListPage{Tasks: append([]TaskStatus{}, a.Tasks...)} // not nil: it is an empty list in JSON
	for i := range page.Tasks {
		page.Tasks[i].Progress = roundProgress(page.Tasks[i].Progress)
	}
	if a.Cursor > 0 {
		page.Next = cursor{true, a.Cursor}.String()
	}
	return page, nil
}

// stillOpen are the tasks of a page without those that have ended by now. The scheduler stores an outcome before it knows that it
// is stored, and others may have heard of it by then: who knows that a task has ended is not to find it among the open ones. So
// those whose outcome is under way are looked up in the stream; what has ended there comes with the last pages.
func (c *Client) stillOpen(ctx context.Context, l *line, page []TaskStatus, ending []int) ([]TaskStatus, error) {
	for n, i := range ending {
		if i < 0 || i >= len(page) || n > 0 && i <= ending[n-1] || !protocol.ValidName(page[i].ID) { // each once, and in order
			return nil, nonsense(fmt.Errorf("task %d of %d ends", i, len(page)))
		}
	}
	over := make([]bool, len(page))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookedUpAtOnce)
	for _, i := range ending {
		group.Go(func() error {
			e, err := c.look(ctx, l, queueKey+page[i].ID)
			over[i] = e.Revision == 0 || e.Marker || len(e.Header[headerOutcome]) > 0
			return err
		})
	}
	if err := group.Wait(); err != nil {
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

// refusal is an answer of the scheduler that says no.
func refusal(a answer) error {
	return fmt.Errorf("%w: it says %q", ErrNoScheduler, a.Error)
}

// listEnded reads a part of the stream. Records of open tasks are among them, and passed over.
func (c *Client) listEnded(ctx context.Context, l *line, o ListOptions, from uint64) (ListPage, error) {
	page := ListPage{Tasks: []TaskStatus{}}
	for seen := 0; seen < scanned; {
		entries, more, err := l.stream.Scan(ctx, c.nc, natskv.Scan{
			Filter: queueKey + ">", From: from, Limit: scannedAtOnce, HeadersOnly: true,
		})
		if err != nil {
			return ListPage{}, failed(c.offline(err), "list")
		}
		for i := range entries {
			e := &entries[i]
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

// takes reports whether a record is the outcome of a task that is to be listed.
func (o *ListOptions) takes(e *natskv.Entry) (TaskStatus, bool) {
	id := e.Key[len(queueKey):]
	if !strings.HasPrefix(id, o.Prefix) {
		return TaskStatus{}, false
	}
	out, err := decodeOutcome(e.Header, nil)
	if err != nil || out == nil { // what nobody can read is left to Get, which says what is wrong with it
		return TaskStatus{}, false
	}
	if len(o.Kinds) > 0 && !slices.Contains(o.Kinds, out.Kind) || len(o.States) > 0 && !slices.Contains(o.States, State(out.Status)) {
		return TaskStatus{}, false
	}
	return endedStatus(id, out, e), true
}

// cursor is where a page begins: among the open tasks, at a place in the scheduler's books, or at a revision of the stream.
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

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{open: true}, nil
	}
	where, number, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || where != "open" && where != "ended" {
		return cursor{}, fmt.Errorf("%w: %.100q", ErrInvalidCursor, text)
	}
	return cursor{where == "open", n}, nil
}
