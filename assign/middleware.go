package assign

import (
	"context"

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
