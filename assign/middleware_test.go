package assign_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func around(all ...assign.Middleware) nodeOption {
	return func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.Middleware = all }
}

var raw = assign.NewKind[[]byte, []byte]("raw", assign.MaxAttempts(1))

type mark struct{}

func TestMiddleware(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var mu sync.Mutex
		var seen []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, what)
		}
		outer := func(next assign.HandlerFunc) assign.HandlerFunc {
			return func(ctx context.Context, task *assign.Task[[]byte]) ([]byte, error) {
				note("outer " + task.Kind() + " " + string(task.Input))
				out, err := next(context.WithValue(ctx, mark{}, "marked"), task)
				note("outer " + string(assign.EndOf(ctx, err)))
				return out, err
			}
		}
		inner := func(next assign.HandlerFunc) assign.HandlerFunc {
			return func(ctx context.Context, task *assign.Task[[]byte]) ([]byte, error) {
				switch string(task.Input) {
				case "refuse":
					return nil, assign.Permanent(errors.New("refused"))
				case "panic here":
					panic("in the middleware")
				case "goexit":
					runtime.Goexit()
				}
				out, err := next(ctx, task)
				return append(out, '!'), err
			}
		}
		newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, raw, func(ctx context.Context, task *assign.Task[[]byte]) ([]byte, error) {
				note("handler")
				if string(task.Input) == "panic there" {
					panic("in the handler")
				}
				value, _ := ctx.Value(mark{}).(string)
				return []byte(value + " " + task.Header("greeting")), nil
			}); err != nil {
				t.Error(err)
			}
		}, around(outer, inner))
		c := New(t, s)
		for _, tt := range []struct{ in, out, err, stack, seen string }{
			{in: "x", out: "marked hello!", seen: "outer raw x, handler, outer succeeded"},
			{in: "refuse", err: "refused", seen: "outer raw refuse, outer permanent"},
			{in: "panic here", err: "in the middleware", stack: "middleware_test.go", seen: "outer raw panic here"},
			{in: "panic there", err: "in the handler", stack: "middleware_test.go", seen: "outer raw panic there, handler"},
			{in: "goexit", err: "Goexit", seen: "outer raw goexit"},
		} {
			mu.Lock()
			seen = nil
			mu.Unlock()
			p, err := assign.Submit(t.Context(), c, raw, []byte(tt.in), assign.WithHeader("greeting", "hello"))
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Wait(t.Context())
			mu.Lock()
			if string(out) != tt.out || strings.Join(seen, ", ") != tt.seen {
				t.Errorf("%s: %q, %q", tt.in, out, seen)
			}
			mu.Unlock()
			if tt.err == "" {
				if err != nil {
					t.Errorf("%s: %v", tt.in, err)
				}
				continue
			}
			var dead *assign.TaskError
			if !errors.As(err, &dead) || !strings.Contains(dead.Message, tt.err) || !strings.Contains(dead.Stack, tt.stack) {
				t.Errorf("%s: %v, stack:\n%s", tt.in, err, dead.Stack)
			}
		}
	})
}

func TestMiddlewareThatReturnsNothing(t *testing.T) {
	s, err := election.NewSession(election.SessionConfig{Bucket: "roles"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := assign.New(s, assign.Config{
		Namespace: testNS, Role: testRole,
		Middleware: []assign.Middleware{func(assign.HandlerFunc) assign.HandlerFunc { return nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	var fault *assign.ConfigError
	run := func(context.Context, *assign.Task[[]byte]) ([]byte, error) { return nil, nil }
	if err := assign.Handle(a, raw, run); !errors.As(err, &fault) || fault.Field != "Middleware" {
		t.Errorf("%v", err)
	}
}
