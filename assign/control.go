package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// query is a request to <namespace>.ctl, answered by the scheduler. JSON.
type query struct {
	Op string `json:"op"`
	ID string `json:"id,omitempty"` // opStatus, opWatch
	// Filter, Cursor and Limit are opList's. Cursor is 0 or that of the page before.
	Filter *listFilter `json:"filter,omitempty"`
	Cursor uint64      `json:"cursor,omitempty"`
	Limit  int         `json:"limit,omitempty"`
}

// readQuery reads a question; false for what is none.
func readQuery(data []byte) (q query, ok bool) {
	ok = len(data) <= maxQuery && json.Unmarshal(data, &q) == nil
	return q, ok
}

// page is what an opList asks for, and how much of it at most.
func (q *query) page() (f tasks.Filter, limit int) {
	if limit = q.Limit; limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	if q.Filter == nil {
		return f, limit
	}
	f.Kinds, f.Prefix = q.Filter.Kinds, q.Filter.Prefix
	for _, s := range q.Filter.States {
		f.States = append(f.States, tasks.State(s))
	}
	return f, limit
}

// listFilter selects tasks: each of its parts that is not empty must hold.
type listFilter struct {
	States []State  `json:"states,omitempty"`
	Kinds  []string `json:"kinds,omitempty"`
	Prefix string   `json:"prefix,omitempty"` // of the id
}

const (
	opStatus   = "status"   // one open task
	opList     = "list"     // a page of the open tasks
	opOverview = "overview" // kinds and workers
	opWatch    = "watch"    // tell on <namespace>.event.<task> what happens to a task for watchFor

	askWithin = 2 * time.Second
	askAgain  = 500 * time.Millisecond // nobody may have heard it, or one who leads no longer
	maxQuery  = 4 << 10                // bytes

	maxPage = 500 // tasks
	// maxPageBytes bounds a page of open tasks besides: the scheduler ends it, with a cursor, rather than exceed it.
	maxPageBytes = 512 << 10

	watchFor   = 30 * time.Second
	maxWatched = 4096 // tasks at once
)

// answer is what the scheduler says to it.
type answer struct {
	// OK is false when the scheduler does not know the task, or the operation, or has too much to watch.
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Task answers opStatus and opWatch, Tasks and Cursor opList: 0 when the page is the last one. Ending counts those of Tasks
	// whose outcome is being stored, from 0: whether it is, the stream knows first.
	Task     *TaskStatus  `json:"task,omitempty"`
	Tasks    []TaskStatus `json:"tasks,omitempty"`
	Ending   []int        `json:"ending,omitempty"`
	Cursor   uint64       `json:"cursor,omitempty"`
	Overview *Overview    `json:"overview,omitempty"`
}

// ask asks the scheduler, again and again for a while: between two of them a question reaches nobody. Errors: ErrNoScheduler, the
// connection's, ctx's.
func (c *Client) ask(ctx context.Context, q query) (answer, error) {
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	data, err := json.Marshal(q)
	if err != nil {
		return answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	if len(data) > maxQuery {
		return answer{}, fmt.Errorf("assign: ask the scheduler: a question of %d bytes: use a shorter filter", len(data))
	}
	m, err := c.put(within, data)
	switch {
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, context.DeadlineExceeded):
		return answer{}, fmt.Errorf("%w (%v)", ErrNoScheduler, err)
	case err != nil:
		return answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	a, err := readAnswer(m.Data)
	if err == nil && len(a.Tasks) > q.Limit {
		err = fmt.Errorf("%w: of %d tasks, where %d were asked for", errCrowded, len(a.Tasks), q.Limit)
	}
	switch {
	case errors.Is(err, errCrowded):
		return answer{}, nonsense(err)
	case err != nil:
		return answer{}, fmt.Errorf("assign: ask the scheduler: %w", err)
	}
	return a, nil
}

// nonsense is an answer that no scheduler gives: whoever has given it may publish where only schedulers should.
func nonsense(err error) error {
	return fmt.Errorf("%w: it says what makes no sense: %w", ErrNoScheduler, err)
}

// put puts a question to whoever answers first. The answer goes to a channel of our own: the one that nats.go makes for
// SubscribeSync takes half a megabyte.
func (c *Client) put(ctx context.Context, question []byte) (*nats.Msg, error) {
	inbox := c.nc.NewInbox()
	first := make(chan *nats.Msg, 1)
	answers, err := c.nc.Subscribe(inbox, func(m *nats.Msg) {
		select {
		case first <- m:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }() // fails only when the connection is closed
	gone := make(chan struct{})                  // closed with the subscription, of which no message tells
	answers.SetClosedHandler(func(string) { close(gone) })
	again := time.NewTicker(askAgain)
	defer again.Stop()
	for {
		if err := c.nc.PublishRequest(c.sub.ctl(), inbox, question); err != nil {
			return nil, err
		}
		select {
		case m := <-first:
			if natskv.IsNoResponders(m) {
				return nil, nats.ErrNoResponders
			}
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-gone:
			return nil, nats.ErrConnectionClosed
		case <-again.C:
		}
	}
}
