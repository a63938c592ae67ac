package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Action is what is done to each task of a bulk operation.
type Action uint8

// The actions.
const (
	RequeueEach Action = iota + 1
	DeleteEach
	CancelEach // stores the request, and does not wait
)

const (
	bulkAtOnce    = 16  // tasks that something is done to at the same time
	maxBulkFaults = 100 // that are told
)

// Bulk is the result of a bulk operation, or of a part of it. Next is where to continue, "" when
// all tasks were looked at.
type Bulk struct {
	Done, Skipped, Needed, Failed int
	Kinds                         map[string]int // Done by kind
	Faults                        []BulkFault    // the first of those that Failed counts
	Next                          string
}

// BulkFault is a task that nothing could be done to.
type BulkFault struct {
	ID  string
	Err error
}

// Bulk does one thing to every task that a filter selects, page by page, or counts the tasks if dry
// is set. Tasks that have ended are those that had ended when it began: a task that is requeued and
// dies again is not met twice. After an error the result says how far it came. The operation may
// begin again: nothing is done twice.
func (c *Client) Bulk(ctx context.Context, a Action, o ListOptions, dry bool) (Bulk, error) {
	sum := Bulk{Kinds: map[string]int{}, Next: o.Cursor}
	l, err := c.opened(ctx)
	if err != nil {
		return sum, err
	}
	if o.Cursor, o.before, err = parseBulkCursor(o.Cursor); err != nil {
		return sum, err
	}
	if o.before == 0 {
		last, err := l.stream.Last(ctx, c.nc)
		if err != nil {
			return sum, taskerr.Doing(c.offline(err), "begin")
		}
		o.before = last + 1
	}
	for {
		page, err := c.List(ctx, o)
		if err != nil {
			return sum, err
		}
		if err := c.doEach(ctx, l, a, page.Tasks, dry, &sum); err != nil {
			return sum, err
		}
		if o.Cursor = page.Next; o.Cursor == "" {
			sum.Next = ""
			return sum, nil
		}
		sum.Next = bulkCursor(o.Cursor, o.before)
	}
}

// doEach does it to the tasks of a page. It returns an error only if ctx has ended or the client is
// closed.
func (c *Client) doEach(ctx context.Context, l *line, a Action, page []Status, dry bool, sum *Bulk) error {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(bulkAtOnce)
	for i := range page {
		group.Go(func() error {
			var err error
			switch {
			case !dry:
				err = c.do(ctx, l, a, page[i].ID)
			case a == DeleteEach && page[i].Needed:
				err = taskerr.ErrTaskNeeded
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				sum.Done++
				sum.Kinds[page[i].Kind]++
			case ctx.Err() != nil, errors.Is(err, taskerr.ErrClosed):
				return err
			case overtaken(err):
				sum.Skipped++
			case errors.Is(err, taskerr.ErrTaskNeeded):
				sum.Needed++
			default:
				sum.Failed++
				if len(sum.Faults) < maxBulkFaults {
					sum.Faults = append(sum.Faults, BulkFault{page[i].ID, err})
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// errEnded says that a task cannot be cancelled any more.
var errEnded = errors.New("it has ended")

func (c *Client) do(ctx context.Context, l *line, a Action, id string) error {
	switch a {
	case RequeueEach:
		return c.Requeue(ctx, id, nil)
	case DeleteEach:
		return c.Delete(ctx, id)
	}
	o, err := c.requestCancel(ctx, l, id)
	if err == nil && o != nil && o.Status != tasks.StatusCancelled {
		return errEnded
	}
	return err
}

// overtaken reports whether somebody else has done something with a task since it was listed.
func overtaken(err error) bool {
	for _, other := range []error{errEnded, taskerr.ErrNotDead, taskerr.ErrTaskNotFound, taskerr.ErrTaskOpen} {
		if errors.Is(err, other) {
			return true
		}
	}
	return false
}

// bulkCursor is where a bulk operation continues: the revision before which tasks have ended, and
// the cursor of a page.
func bulkCursor(page string, before uint64) string {
	return strconv.FormatUint(before, 10) + ":" + page
}

func parseBulkCursor(text string) (page string, before uint64, err error) {
	if text == "" {
		return "", 0, nil
	}
	number, page, _ := strings.Cut(text, ":")
	before, err = strconv.ParseUint(number, 10, 64)
	if err == nil {
		_, err = parseCursor(page)
	}
	if err != nil || before == 0 || page == "" {
		return "", 0, fmt.Errorf("%w: %.100q", taskerr.ErrInvalidCursor, text)
	}
	return page, before, nil
}
