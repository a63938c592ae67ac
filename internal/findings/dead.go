package findings

import (
	"context"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// A count of dead tasks reads so many pages at most: dead tasks are found by reading all that have
// ended.
const (
	deadPages   = 5
	deadPerPage = 100
)

// Dead says how many tasks of a namespace are dead.
type Dead struct {
	N int
	// More says that not all tasks that have ended were looked at.
	More bool
}

// CountDead counts the dead tasks of a namespace, as far as a few pages hold them. It needs no
// scheduler. Errors: those of assign.List.
func CountDead(ctx context.Context, c *assign.Client) (d Dead, err error) {
	o := assign.ListOptions{States: []assign.State{assign.StateDead}, Limit: deadPerPage}
	for range deadPages {
		page, err := assign.List(ctx, c, o)
		if err != nil {
			return Dead{}, err
		}
		d.N += len(page.Tasks)
		if o.Cursor = page.Next; o.Cursor == "" {
			return d, nil
		}
	}
	d.More = true
	return d, nil
}

// Dead judges the dead tasks of a namespace: somebody has to look at each.
func (l *List) Dead(namespace string, d Dead) {
	some := wording.Count(d.N, "dead task")
	if d.More {
		some = "at least " + some
	}
	switch {
	case d.N > 0:
		l.Add(Warning, "tasks", "read the errors, then requeue or delete them: rolectl tasks ls --state dead -n "+namespace,
			"%s: %s", namespace, some)
	case d.More:
		l.OK("tasks", "%s: no dead task among the oldest that have ended; there are more than were looked at", namespace)
	}
}
