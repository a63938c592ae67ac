package assign

import (
	"context"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// ListOptions say which tasks to list. Every part that is not empty must hold.
type ListOptions struct {
	States []State
	Kinds  []string
	// Prefix begins the ids.
	Prefix string
	// Headers must be among those of the submission. A task that has ended keeps them only if it is
	// dead.
	Headers map[string]string
	// Since and Until bound the time, the first included: when an open task was submitted, or when
	// another one ended, by the server's clock. Zero means any time.
	Since, Until time.Time
	// Limit is how many tasks a page holds at most. Default 100, maximum 500.
	Limit int
	// Cursor is "" for the first page, then the Next of the page before.
	Cursor string
}

// ListPage is one page of tasks. It may hold fewer than Limit, even none, though Next is not "":
// the cost of one page is bounded, however few tasks match.
type ListPage struct {
	Tasks []TaskStatus `json:"tasks"`
	Next  string       `json:"next,omitempty"` // "" for the last page
}

const defaultPage = 100

// List lists tasks page by page. The first pages hold the open tasks, as the scheduler knows them,
// in no particular order. The pages after them hold the tasks that have ended and are still kept,
// as the stream has them, in the order in which they ended. A task that ends while its pages are
// being listed may be listed twice. If another scheduler takes over meanwhile, the next page is the
// first one of its open tasks: tasks may be listed twice, and none is left out that is open all the
// while. A task whose outcome anybody knew before the call is not listed as open.
//
// Without a scheduler only ended tasks can be listed: give States that are terminal.
//
// Errors: ErrNoScheduler, ErrInvalidCursor, ErrInvalidOption, ErrClosed, the connection's, ctx's.
func List(ctx context.Context, in Submitter, o ListOptions) (ListPage, error) {
	options, err := o.checked()
	if err != nil {
		return ListPage{}, err
	}
	if err := client.CheckCursor(o.Cursor); err != nil {
		return ListPage{}, err
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return ListPage{}, err
	}
	page, err := c.List(ctx, options)
	if err != nil {
		return ListPage{}, err
	}
	list := ListPage{Tasks: make([]TaskStatus, 0, len(page.Tasks)), Next: page.Next} // not nil: JSON shows an empty list
	for i := range page.Tasks {
		list.Tasks = append(list.Tasks, statusFrom(&page.Tasks[i]))
	}
	return list, nil
}

// checked are the options for the client, except for the cursor, if they are valid.
func (o *ListOptions) checked() (options client.ListOptions, err error) {
	if o.Limit == 0 {
		o.Limit = defaultPage
	}
	if o.Limit < 1 || o.Limit > control.MaxPage {
		return options, fmt.Errorf("%w: Limit %d: use 1 to %d", ErrInvalidOption, o.Limit, control.MaxPage)
	}
	for _, s := range o.States {
		if !s.known() {
			return options, fmt.Errorf("%w: there is no state %.220q: use the constants of State", ErrInvalidOption, s)
		}
	}
	// An id continues where the prefix ends. The prefix may end at a dot, or be the whole id.
	if o.Prefix != "" && !naming.Valid(o.Prefix) && !naming.Valid(o.Prefix+"x") {
		return options,
			fmt.Errorf("%w: Prefix %.220q: no id begins so: use letters, digits, - _ = / and dots between them",
				ErrInvalidOption, o.Prefix)
	}
	for _, k := range o.Kinds {
		if !naming.Valid(k) {
			return options,
				fmt.Errorf("%w: Kinds: %.220q cannot name a kind: use letters, digits, - _ = / and dots between them, 200 bytes "+
					"at most", ErrInvalidOption, k)
		}
	}
	options = client.ListOptions{
		Kinds: o.Kinds, Prefix: o.Prefix, Headers: o.Headers, Since: o.Since, Until: o.Until, Limit: o.Limit,
		Cursor: o.Cursor,
	}
	for _, s := range o.States {
		options.States = append(options.States, tasks.State(s))
	}
	return options, nil
}
