package assign

import (
	"context"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/internal/naming"
)

// Recurrence is a definition as it is stored, with its last and its next tick.
type Recurrence struct {
	Name          string        `json:"name"`
	Kind          string        `json:"kind"`
	Spec          string        `json:"spec"`
	Zone          string        `json:"zone"`
	CatchUp       CatchUpPolicy `json:"catch_up"`
	CatchUpWindow time.Duration `json:"catch_up_window_ns"`
	// Version is the [RecurVersion] of the definition.
	Version int `json:"version,omitempty"`
	// Since is when the definition was stored.
	Since time.Time `json:"since"`
	// Last is the last tick that was submitted, zero for none. Next is the tick to submit next.
	// Next lies in the past while nobody leads.
	Last time.Time `json:"last,omitzero"`
	Next time.Time `json:"next,omitzero"`
	// Error says why schedulers ignore the definition, "" if they do not.
	Error string `json:"error,omitempty"`
}

// RecurrenceListOptions say which recurrences to list.
type RecurrenceListOptions struct {
	// Prefix begins the names.
	Prefix string
	// Limit is how many recurrences a page holds at most. Default 100, maximum 500.
	Limit int
	// Cursor is "" for the first page, then the Next of the page before.
	Cursor string
}

// RecurrencePage is one page of recurrences. It may hold fewer than Limit, even none, though Next
// is not "": the cost of one page is bounded, however few names match.
type RecurrencePage struct {
	Recurrences []Recurrence `json:"recurrences"`
	Next        string       `json:"next,omitempty"` // "" for the last page
}

// ListRecurrences lists the recurrences that are defined, page by page, in the order in which they
// were defined or changed last. It needs no leader. A recurrence that is changed while its pages
// are being listed may be listed twice.
//
// Errors: ErrInvalidCursor, ErrInvalidOption, ErrClosed, the connection's, ctx's.
func ListRecurrences(ctx context.Context, in Submitter, o RecurrenceListOptions) (RecurrencePage, error) {
	if o.Limit == 0 {
		o.Limit = defaultPage
	}
	if o.Limit < 1 || o.Limit > control.MaxPage {
		return RecurrencePage{}, fmt.Errorf("%w: Limit %d: use 1 to %d", ErrInvalidOption, o.Limit, control.MaxPage)
	}
	if err := client.CheckRecurCursor(o.Cursor); err != nil {
		return RecurrencePage{}, err
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return RecurrencePage{}, err
	}
	page, err := c.Recurrences(ctx, o.Prefix, o.Limit, o.Cursor)
	if err != nil {
		return RecurrencePage{}, err
	}
	list := RecurrencePage{Recurrences: make([]Recurrence, 0, len(page.Recurrences)), Next: page.Next}
	for i := range page.Recurrences {
		list.Recurrences = append(list.Recurrences, recurrenceFrom(&page.Recurrences[i]))
	}
	return list, nil
}

// GetRecurrence returns the recurrence of a name. Errors: ErrInvalidName, ErrRecurrenceNotFound,
// ErrClosed, the connection's, ctx's.
func GetRecurrence(ctx context.Context, in Submitter, name string) (Recurrence, error) {
	if !naming.Valid(name) {
		return Recurrence{}, fmt.Errorf("%w: recurrence %q", ErrInvalidName, name)
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return Recurrence{}, err
	}
	stored, err := c.Recurrence(ctx, name)
	if err != nil {
		return Recurrence{}, err
	}
	return recurrenceFrom(&stored), nil
}

// recurrenceFrom is a recurrence for users.
func recurrenceFrom(s *client.Recurrence) Recurrence {
	d := &s.Definition
	r := Recurrence{
		Name: s.Name, Kind: d.Task.Kind, Spec: d.Spec, Zone: d.Zone, CatchUp: CatchUpPolicy(d.CatchUp), Since: s.Since,
		Version: d.DefinitionVersion, Last: s.Last, Next: s.Next,
	}
	if s.Err != nil {
		r.Error = s.Err.Error()
	} else {
		r.CatchUpWindow = time.Duration(d.Window) * time.Millisecond
	}
	return r
}
