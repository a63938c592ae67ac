package assign

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/assign/internal/worker"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Handle makes this process a worker for a kind. h is called for each attempt, in a goroutine of
// its own. At most Slots of them run at once. ctx ends with the attempt's timeout, the task's
// deadline or cancel, the loss of the session and the shutdown; its cause says which. h returns
// then. After the loss of the session, h and the next attempt may run at the same time, and only a
// guard on [Task.Fence] tells them apart.
//
// An input that cannot be decoded into In goes to a worker of another build, and then counts as a
// failed attempt. An error is a failure, to be tried again with backoff up to the kind's
// MaxAttempts; see [Permanent], [RetryAfter], [Snooze]. A panic is a failure too, with its stack.
// If the kind has a Concurrency, Rate, KeyLimit, FairShares or LimitsVersion, the process declares
// it like [Declare], through the scheduler: a worker needs no permission for that. If another
// program has declared it differently under the same version, a Fault with ErrLimitsDiffer names
// both.
//
// Handle may be called before and after the session is opened. Errors: ErrDuplicateKind,
// ErrInvalidKind for a Kind that NewKind or MakeKind did not return, a *ConfigError for a nil
// assigner or handler, and for a middleware that returns nil, *election.TooLargeError when the
// member record of the process has no room for another kind.
func Handle[In, Out any](a *Assigner, k Kind[In, Out], h func(ctx context.Context, t *Task[In]) (Out, error)) error {
	switch {
	case a == nil:
		return &ConfigError{"Assigner", "nil: use what New returns"}
	case k.name == "":
		return fmt.Errorf("%w: it has no name: use NewKind or MakeKind", ErrInvalidKind)
	case h == nil:
		return &ConfigError{"Handler", "nil for kind " + k.name + ": use a function"}
	}
	kind := worker.Handled{Name: k.name, Shape: shapeOf[In]()}
	if k.policy.Limited() {
		var err error
		if kind.Declared, err = k.policy.Declare(""); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidKind, err)
		}
	}
	return a.handle(kind, func(ctx context.Context, t *Task[[]byte]) ([]byte, error) {
		in, err := decode[In](t.Input)
		if err != nil {
			return nil, taskerr.Undecodable(err)
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
func (a *Assigner) handle(kind worker.Handled, h HandlerFunc) error {
	h, err := a.around(h)
	if err != nil {
		return err
	}
	return a.handlers.Add(kind, func(ctx context.Context, input []byte, run bridge.TaskRun) ([]byte, error) {
		return h(ctx, &Task[[]byte]{Input: input, run: run})
	}, func(kinds []string, build string) error {
		return bridge.Offer(a.session, a.cfg.Namespace, a.cfg.Slots, kinds, a.cfg.Labels, build)
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

// shapeOf describes a type of inputs: two types of one shape decode the same JSON, unless they
// decode it by themselves.
func shapeOf[In any]() string {
	var b strings.Builder
	writeShape(&b, reflect.TypeFor[In](), map[reflect.Type]bool{})
	return b.String()
}

func writeShape(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
	fmt.Fprintf(b, "%s.%s:%v", t.PkgPath(), t.Name(), t.Kind())
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Array, reflect.Chan, reflect.Pointer, reflect.Slice:
		writeShape(b, t.Elem(), seen)
	case reflect.Map:
		writeShape(b, t.Key(), seen)
		writeShape(b, t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			fmt.Fprintf(b, "{%s %q ", f.Name, f.Tag)
			writeShape(b, f.Type, seen)
			b.WriteByte('}')
		}
	}
}
