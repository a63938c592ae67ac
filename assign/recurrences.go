package assign

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
)

// Recurrence is a definition as it is stored, with its last and its next tick.
type Recurrence struct {
	Name          string        `json:"name"`
	Kind          string        `json:"kind"`
	Spec          string        `json:"spec"`
	Zone          string        `json:"zone"`
	CatchUp       CatchUpPolicy `json:"catch_up"`
	CatchUpWindow time.Duration `json:"catch_up_window_ns"`
	// Since is when the definition was stored.
	Since time.Time `json:"since"`
	// Last is the last tick that was submitted, zero for none. Next is the tick to submit next.
	// Next lies in the past while nobody leads.
	Last time.Time `json:"last,omitzero"`
	Next time.Time `json:"next,omitzero"`
	// Error says why schedulers ignore the definition, "" if they do not.
	Error string `json:"error,omitempty"`
}

// Recurrences returns all recurrences that are defined. Errors: ErrClosed, the connection's, ctx's,
// and an error if there are more than 10,000.
func Recurrences(ctx context.Context, in Submitter) ([]Recurrence, error) {
	c, err := clientOf(ctx, in)
	if err != nil {
		return nil, err
	}
	stored, err := c.Recurrences(ctx)
	if err != nil {
		return nil, err
	}
	var all []Recurrence
	for i := range stored {
		all = append(all, recurrenceFrom(&stored[i]))
	}
	return all, nil
}

// recurrenceFrom is a recurrence for users.
func recurrenceFrom(s *client.Recurrence) Recurrence {
	d := &s.Definition
	r := Recurrence{
		Name: s.Name, Kind: d.Task.Kind, Spec: d.Spec, Zone: d.Zone, CatchUp: CatchUpPolicy(d.CatchUp), Since: s.Since,
		Last: s.Last, Next: s.Next,
	}
	if s.Err != nil {
		r.Error = s.Err.Error()
	} else {
		r.CatchUpWindow = time.Duration(d.Window) * time.Millisecond
	}
	return r
}
