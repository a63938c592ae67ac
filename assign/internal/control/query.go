package control

import (
	"encoding/json"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Query is a request to the scheduler, which answers it: of a client to <namespace>.ctl, of a
// worker to <namespace>.report.<instance>.
type Query struct {
	Op string `json:"op"`
	ID string `json:"id,omitempty"` // of OpStatus and OpWatch; for OpFeed a name that the client makes
	// Filter, Cursor and Limit belong to OpList. Cursor is 0, or the Cursor of the page before: if
	// another scheduler made that, the answer is the first page. OpFeed has a filter too, of which
	// kinds and prefix count.
	Filter *Filter `json:"filter,omitempty"`
	Cursor uint64  `json:"cursor,omitempty"`
	Limit  int     `json:"limit,omitempty"`
	// From and Record belong to OpDeclare, ID is then the kind.
	From   *Sender         `json:"from,omitempty"`
	Record json.RawMessage `json:"record,omitempty"`
}

// Sender is the worker that has sent a query, and the scheduler's epoch in its view.
type Sender struct {
	Instance string `json:"instance"`
	Session  uint64 `json:"session"`
	Epoch    uint64 `json:"epoch"`
}

// Filter selects tasks: each of its parts that is not empty must hold.
type Filter struct {
	States []tasks.State `json:"states,omitempty"`
	Kinds  []string      `json:"kinds,omitempty"`
	Prefix string        `json:"prefix,omitempty"` // of the id
}

// The operations of a Query.
const (
	OpStatus   = "status"   // one open task
	OpList     = "list"     // a page of the open tasks
	OpOverview = "overview" // kinds and workers
	OpWatch    = "watch"    // tell on <namespace>.event.<task> what happens to a task for WatchFor
	OpFeed     = "feed"     // tell on <namespace>.event.$feed.<id> what happens to all tasks for WatchFor
	OpDeclare  = "declare"  // store the limits of a kind; workers send it where they report, see IsQuery
)

// Limits of queries and answers.
const (
	MaxQuery = 12 << 10 // bytes, of which a declared kind with many labels takes most
	MaxPage  = 500      // tasks
	// MaxPageBytes bounds a page of open tasks too. The scheduler ends the page early, with a
	// cursor.
	MaxPageBytes = 512 << 10
	WatchFor     = 30 * time.Second
)

// Misread reports whether a scheduler of an earlier version has answered an OpList under a cursor
// that is not of an earlier version. It has taken the cursor for a place of its own, and such a
// cursor has no more than 32 bits.
func (q *Query) Misread(a *Answer) bool { return q.Cursor>>32 > 0 && a.OK && a.Epoch == 0 }

// IsQuery reports whether a message may be a query. A frame begins with its version.
func IsQuery(data []byte) bool { return len(data) > 0 && data[0] == '{' }

// ReadQuery reads a query. It returns false for data that is not a query.
func ReadQuery(data []byte) (q Query, ok bool) {
	ok = len(data) <= MaxQuery && json.Unmarshal(data, &q) == nil
	return q, ok
}

// Page is the filter of an OpList, and how many tasks it asks for at most.
func (q *Query) Page() (f tasks.Filter, limit int) {
	if limit = q.Limit; limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	if q.Filter == nil {
		return f, limit
	}
	f.Kinds, f.Prefix, f.States = q.Filter.Kinds, q.Filter.Prefix, q.Filter.States
	return f, limit
}
