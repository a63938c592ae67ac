package assign

import (
	"context"
	"fmt"

	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Handle makes this process a worker for a kind. h is called for each attempt, in a goroutine of
// its own. At most Slots of them run at once. ctx ends with the attempt's timeout, the task's
// deadline or cancel, the loss of the session and the shutdown; its cause says which. h returns
// then. After the loss of the session, h and the next attempt may run at the same time, and only a
// guard on [Task.Fence] tells them apart.
//
// An error is a failure, to be tried again with backoff up to the kind's MaxAttempts; see
// [Permanent], [RetryAfter], [Snooze]. A panic is a failure too, with its stack. Handle may be
// called before and after the session is opened. Errors: ErrDuplicateKind, ErrInvalidKind for a
// Kind that NewKind or MakeKind did not return, a *ConfigError for a nil assigner or handler, and
// for a middleware that returns nil, *election.TooLargeError when the member record of the process
// has no room for another kind.
func Handle[In, Out any](a *Assigner, k Kind[In, Out], h func(ctx context.Context, t *Task[In]) (Out, error)) error {
	switch {
	case a == nil:
		return &ConfigError{"Assigner", "nil: use what New returns"}
	case k.name == "":
		return fmt.Errorf("%w: it has no name: use NewKind or MakeKind", ErrInvalidKind)
	case h == nil:
		return &ConfigError{"Handler", "nil for kind " + k.name + ": use a function"}
	}
	return a.handle(k.name, func(ctx context.Context, t *Task[[]byte]) ([]byte, error) {
		in, err := decode[In](t.Input)
		if err != nil {
			return nil, Permanent(err)
		}
		out, err := h(ctx, &Task[In]{Input: in, run: t.run})
		if err != nil {
			return nil, err
		}
		data, err := encode(out)
		if err != nil {
			return nil, Permanent(err)
		}
		return data, nil
	})
}

// handle gives a kind its handler, inside the middleware.
func (a *Assigner) handle(kind string, h HandlerFunc) error {
	h, err := a.around(h)
	if err != nil {
		return err
	}
	return a.handlers.Add(kind, func(ctx context.Context, input []byte, run bridge.TaskRun) ([]byte, error) {
		return h(ctx, &Task[[]byte]{Input: input, run: run})
	}, func(kinds []string) error {
		return bridge.Offer(a.session, a.cfg.Namespace, a.cfg.Slots, kinds, a.cfg.Labels)
	})
}

// around puts the middleware around a handler; the first is the outermost.
func (a *Assigner) around(h HandlerFunc) (HandlerFunc, error) {
	for i := len(a.cfg.Middleware) - 1; i >= 0; i-- {
		if h = a.cfg.Middleware[i](h); h == nil {
			return nil, &ConfigError{
				"Middleware",
				fmt.Sprintf("number %d returned no handler: return next, or a function that calls it", i),
			}
		}
	}
	return h, nil
}
