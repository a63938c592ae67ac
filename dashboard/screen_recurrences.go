package dashboard

import (
	"context"
	"net/url"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/seconds"
)

// lateAfter is how long after its tick a recurrence is late.
const lateAfter = 5 * time.Second

// recurrencesData is the screen of the recurrences of a namespace.
type recurrencesData struct {
	Namespace   string          `json:"namespace"`
	Namespaces  []string        `json:"namespaces"`
	Recurrences []recurrenceRow `json:"recurrences"`
	Next        string          `json:"next,omitempty"`
}

// plainRecurrence has no methods, so that its JSON can be a part of another.
type plainRecurrence assign.Recurrence

// recurrenceRow is a recurrence in the table.
type recurrenceRow struct {
	plainRecurrence
	Window seconds.Duration `json:"catch_up_window_seconds"`
	// Late says that its next tick has passed: nobody submits it.
	Late bool `json:"late,omitempty"`
}

func recurrencesScreen(ctx context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	c, now, names, err := h.namespace(p, q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	o := assign.RecurrenceListOptions{Prefix: q.Get("prefix"), Limit: tasksPerPage, Cursor: q.Get("cursor")}
	d := &recurrencesData{Namespace: now.Name, Namespaces: names, Recurrences: []recurrenceRow{}}
	for { // a page may hold nothing, though there is more
		page, err := assign.ListRecurrences(ctx, c, o)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Recurrences {
			late := !r.Next.IsZero() && p.at.Sub(r.Next) > lateAfter
			d.Recurrences = append(d.Recurrences, recurrenceRow{plainRecurrence(r), seconds.Duration(r.CatchUpWindow), late})
		}
		if o.Cursor = page.Next; o.Cursor == "" || len(d.Recurrences) >= tasksPerPage/2 {
			d.Next = page.Next
			return d, nil
		}
	}
}
