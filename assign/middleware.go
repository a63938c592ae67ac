package assign

import (
	"context"
	"fmt"
)

// HandlerFunc runs one attempt on encoded input, and returns encoded output: what the handler of every kind is to those
// around it.
type HandlerFunc func(ctx context.Context, t *Task[[]byte]) ([]byte, error)

// Middleware goes around the handlers of all kinds. It calls next with a context derived from its own, and returns what next
// returned or what it makes of it; an error means what it would mean from a handler, see [EndOf]. A panic passes through it
// and is caught behind the first one; its own is caught there too.
type Middleware func(next HandlerFunc) HandlerFunc

// around puts the middleware around a handler; the first is the outermost.
func (a *Assigner) around(h HandlerFunc) (HandlerFunc, error) {
	for i := len(a.cfg.Middleware) - 1; i >= 0; i-- {
		if h = a.cfg.Middleware[i](h); h == nil {
			return nil, &ConfigError{"Middleware", fmt.Sprintf("number %d returned no handler: return next, or a function that calls it", i)}
		}
	}
	return h, nil
}
