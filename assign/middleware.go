package assign

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// HandlerFunc runs one attempt on encoded input, and returns encoded output. The handler of every
// kind has this form for the middleware around it.
type HandlerFunc func(ctx context.Context, t *Task[[]byte]) ([]byte, error)

// Middleware goes around the handlers of all kinds. It calls next with a context derived from its
// own, and returns what next returned or what it makes of it. An error means what it would mean
// from a handler, see [EndOf]. A panic passes through the middleware and is caught outside the
// first one. A panic of the middleware itself is caught there too.
type Middleware func(next HandlerFunc) HandlerFunc

// Submitting is a task that is about to be submitted, as a [SubmitMiddleware] sees it. Input,
// Headers and TraceParent may be changed, before next is called; the map of the headers too.
type Submitting struct {
	ID, Kind    string
	Input       []byte // as it is encoded, and not sealed yet
	Headers     map[string]string
	TraceParent string
}

// SubmitFunc stores a submission.
type SubmitFunc func(ctx context.Context, s *Submitting) error

// SubmitMiddleware goes around each submission of [Submit], [SubmitBatch] and [SubmitGroup]. It
// calls next with a context derived from its own, and returns what next returned, or an error that
// refuses the task. The tasks of a recurrence do not pass it.
type SubmitMiddleware func(next SubmitFunc) SubmitFunc

// submitAround puts middleware around the submissions of a client; nil for none.
func submitAround(all []SubmitMiddleware) client.Around {
	all = slices.Clone(all)
	if len(all) == 0 {
		return nil
	}
	return func(ctx context.Context, s *client.Submission, data []byte,
		store client.StoreFunc,
	) (h client.Handle, err error) {
		stored := false
		next := SubmitFunc(func(ctx context.Context, t *Submitting) (err error) {
			for name, value := range t.Headers {
				if fault := record.CheckHeader(name, value); fault != "" {
					s.Refuse("SubmitMiddleware: %s", fault)
				}
			}
			s.Meta, s.Trace = t.Headers, t.TraceParent
			h, err = store(ctx, s, t.Input)
			stored = err == nil
			return err
		})
		for i := len(all) - 1; i >= 0; i-- {
			next = all[i](next)
		}
		headers := maps.Clone(s.Meta)
		if headers == nil {
			headers = map[string]string{}
		}
		err = next(ctx, &Submitting{ID: s.ID, Kind: s.Kind, Input: data, Headers: headers, TraceParent: s.Trace})
		if err == nil && !stored {
			err = fmt.Errorf("%w: a SubmitMiddleware returned without an error, and has not called next", ErrInvalidOption)
		}
		return h, err
	}
}

// AttemptEnd is how an attempt ends.
type AttemptEnd string

const (
	// EndSucceeded: what was returned is the task's output.
	EndSucceeded = AttemptEnd(taskerr.EndSucceeded)
	// EndFailed: the failure counts, and the task is tried again or is dead.
	EndFailed = AttemptEnd(taskerr.EndFailed)
	// EndPermanent: the task is dead.
	EndPermanent = AttemptEnd(taskerr.EndPermanent)
	// EndUndecodable: the worker cannot decode the input. Another worker tries it, or the attempt
	// counts as failed.
	EndUndecodable = AttemptEnd(taskerr.EndUndecodable)
	// EndSnoozed: the task runs again later, uncounted.
	EndSnoozed = AttemptEnd(taskerr.EndSnoozed)
	// EndReleased: the worker shuts down, and the task is given back, uncounted.
	EndReleased = AttemptEnd(taskerr.EndReleased)
	// EndDropped: the session is lost or the task has ended, and the result is discarded.
	EndDropped = AttemptEnd(taskerr.EndDropped)
)

// EndOf says how an attempt ends whose handler returns err under ctx. It is for middleware.
func EndOf(ctx context.Context, err error) AttemptEnd { return AttemptEnd(taskerr.EndOf(ctx, err)) }
