package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/seconds"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// tasksPerPage is how many tasks a page of a listing has at most.
const tasksPerPage = 50

// tasksData is the screen of the tasks of a namespace.
type tasksData struct {
	Namespace  string       `json:"namespace"`
	Namespaces []string     `json:"namespaces"`
	Now        namespaceNow `json:"now"`
	Kinds      []kindRow    `json:"kinds"`
	Tasks      []taskRow    `json:"tasks"`
	Next       string       `json:"next,omitempty"`
	Problem    string       `json:"problem,omitempty"` // why the tasks are not listed
}

// kindRow is a kind in the table.
type kindRow struct {
	assign.KindOverview
	Waits waitingKind `json:"waits"`
}

// Longest says why its oldest task waits.
func (k kindRow) Longest() string {
	if k.Oldest == nil || k.Oldest.Reason == "" {
		return "about to be handed out"
	}
	return wording.Words(string(k.Oldest.Reason))
}

// taskRow is a task in a list.
type taskRow struct {
	ID       string           `json:"id"`
	Kind     string           `json:"kind"`
	State    assign.State     `json:"state"`
	Reason   string           `json:"reason,omitempty"`
	Attempts int              `json:"attempts"`
	Worker   string           `json:"worker,omitempty"`
	Percent  int              `json:"progress_percent,omitempty"`
	At       time.Time        `json:"time"` // of the submission, or of the end
	Error    string           `json:"error,omitempty"`
	Cause    string           `json:"cause,omitempty"`
	Kept     time.Time        `json:"kept_until,omitzero"`
	Ran      seconds.Duration `json:"ran_seconds,omitempty"`
}

// namespace returns the namespace that a URL asks for, the first one by default.
func (h *Handler) namespace(p *picture, q url.Values) (*assign.Client, namespaceNow, []string, error) {
	var names []string
	for _, n := range p.tasks {
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		return nil, namespaceNow{}, nil, fmt.Errorf("%w: this page shows no namespace of tasks", errNotThere)
	}
	i := 0
	if asked := q.Get("n"); asked != "" {
		if i = slices.Index(names, asked); i < 0 {
			return nil, namespaceNow{}, names, fmt.Errorf("%w: namespace %q is not shown here", errNotThere, asked)
		}
	}
	return h.options.Tasks[i], p.tasks[i], names, nil
}

func tasksScreen(ctx context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	c, now, names, err := h.namespace(p, q)
	if err != nil {
		return nil, err
	}
	d := &tasksData{Namespace: now.Name, Namespaces: names, Now: now, Tasks: []taskRow{}}
	if o := now.Overview; o != nil {
		for _, k := range o.Kinds {
			d.Kinds = append(d.Kinds, kindRow{k, waitsOf(now.Name, o, k)})
		}
		for _, k := range o.IdleKinds {
			row := assign.KindOverview{Kind: k.Kind, Waited: k.Waited, Ran: k.Ran}
			d.Kinds = append(d.Kinds, kindRow{row, waitingKind{Namespace: now.Name, Kind: k.Kind}})
		}
	}
	states := []assign.State{assign.StatePending, assign.StateRunning, assign.StateRetrying, assign.StateDelayed}
	if s := q.Get("state"); s != "" {
		states = []assign.State{assign.State(s)}
	}
	d.Tasks, d.Next, err = listTasks(ctx, c, q, states)
	if err != nil {
		if statusOf(err) < 500 {
			return nil, err
		}
		d.Problem = wording.OneLine(wording.Plain(err))
	}
	return d, nil
}

// listTasks lists what a URL asks for.
func listTasks(ctx context.Context, c *assign.Client, q url.Values, states []assign.State) ([]taskRow, string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	o := assign.ListOptions{States: states, Prefix: q.Get("prefix"), Limit: tasksPerPage, Cursor: q.Get("cursor")}
	if k := q.Get("kind"); k != "" {
		o.Kinds = []string{k}
	}
	rows := []taskRow{}
	for { // a page may hold nothing, though there is more
		page, err := assign.List(ctx, c, o)
		if err != nil {
			return rows, "", err
		}
		for _, t := range page.Tasks {
			rows = append(rows, rowOf(&t))
		}
		if o.Cursor = page.Next; o.Cursor == "" || len(rows) >= tasksPerPage/2 {
			return rows, page.Next, nil
		}
	}
}

func rowOf(t *assign.TaskStatus) taskRow {
	row := taskRow{
		ID: t.ID, Kind: t.Kind, State: t.State, Attempts: t.Attempts, Worker: t.Worker, At: t.Submitted,
		Error: t.Error, Cause: t.Cause, Kept: t.KeptUntil, Percent: int(100 * t.Progress), Ran: seconds.Duration(t.Ran),
	}
	if !t.Ended.IsZero() {
		row.At = t.Ended
	}
	if t.Reason != "" {
		row.Reason = wording.Words(string(t.Reason))
	}
	return row
}
