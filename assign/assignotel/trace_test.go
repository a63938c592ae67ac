package assignotel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/assignotel"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

var say = assign.NewKind[string, string]("say", assign.MaxAttempts(2),
	assign.Backoff(time.Millisecond, time.Millisecond))

const secret = "the secret input"

func recorder(t *testing.T) (*sdk.TracerProvider, *tracetest.InMemoryExporter) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	t.Cleanup(func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return provider, exporter
}

func start(t *testing.T, provider trace.TracerProvider,
	handler func(context.Context, *assign.Task[string]) (string, error),
) *assigntest.Namespace {
	return assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, say, handler); err != nil {
			t.Fatal(err)
		}
	}, assigntest.Configure(func(c *assign.Config) {
		c.Middleware = []assign.Middleware{assignotel.Middleware(assignotel.WithTracerProvider(provider))}
	}))
}

// attempts are the spans of attempts that have ended: each ends before its outcome is stored.
func attempts(exporter *tracetest.InMemoryExporter) (all []tracetest.SpanStub) {
	for _, s := range exporter.GetSpans() {
		if strings.HasPrefix(s.Name, "process ") {
			all = append(all, s)
		}
	}
	return all
}

func attributes(s tracetest.SpanStub) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

// TestOneTrace: submit, handler and outcome share a trace.
func TestOneTrace(t *testing.T) {
	provider, exporter := recorder(t)
	tracer := provider.Tracer("test")
	ns := start(t, provider, func(ctx context.Context, task *assign.Task[string]) (string, error) {
		_, span := tracer.Start(ctx, "inside")
		defer span.End()
		if task.Attempt() == 1 {
			return "", errors.New("not yet")
		}
		return trace.SpanContextFromContext(ctx).TraceID().String(), nil
	})
	ctx, root := tracer.Start(t.Context(), "request")
	p, err := assign.Submit(ctx, ns, say, secret, assignotel.Inject(ctx))
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Wait(t.Context())
	root.End()
	want := root.SpanContext().TraceID().String()
	if err != nil || out != want {
		t.Errorf("the handler's trace is %q, %v; want %s", out, err, want)
	}
	spans := attempts(exporter)
	if len(spans) != 2 {
		t.Fatalf("%d spans of attempts, want 2", len(spans))
	}
	for i, s := range spans {
		if s.SpanContext.TraceID() != root.SpanContext().TraceID() || s.Parent.SpanID() != root.SpanContext().SpanID() ||
			!s.Parent.IsRemote() {
			t.Errorf("attempt %d: trace %s, parent %+v", i+1, s.SpanContext.TraceID(), s.Parent)
		}
		if s.Name != "process say" || s.SpanKind != trace.SpanKindConsumer {
			t.Errorf("%s, %v", s.Name, s.SpanKind)
		}
		got := attributes(s)
		if got["rolemanager.task.kind"] != "say" || got["rolemanager.task.attempt"] != fmt.Sprint(i+1) ||
			got["rolemanager.task.id"] != p.ID() ||
			got["rolemanager.task.outcome"] != []string{"failed", "succeeded"}[i] {
			t.Errorf("attempt %d: %v", i+1, got)
		}
		if strings.Contains(fmt.Sprint(s), secret) {
			t.Errorf("the input is in the span: %v", s)
		}
	}
	if spans[0].Status.Code != codes.Error || spans[1].Status.Code == codes.Error {
		t.Errorf("status %v, %v", spans[0].Status, spans[1].Status)
	}
	inside := 0
	for _, s := range exporter.GetSpans() {
		if s.Name == "inside" {
			if inside++; s.Parent.SpanID() != spans[inside-1].SpanContext.SpanID() {
				t.Errorf("the handler's own span has parent %s", s.Parent.SpanID())
			}
		}
	}
	if inside != 2 {
		t.Errorf("%d spans of the handler's own, want 2", inside)
	}
	if parent := outcomeHeader(t, ns.Conn, p.ID()).Get("traceparent"); !strings.Contains(parent, want) {
		t.Errorf("the outcome's traceparent is %q, want trace %s", parent, want)
	}
}

// outcomeHeader reads the record of a task that has ended.
func outcomeHeader(t *testing.T, nc *nats.Conn, id string) nats.Header {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "TASKS_test")
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetLastMsgForSubject(t.Context(), "$KV.TASKS_test.q."+id)
	if err != nil {
		t.Fatal(err)
	}
	if m.Header.Get("Task-Outcome") == "" {
		t.Fatalf("the record is not an outcome: %v", m.Header)
	}
	return m.Header
}

// TestNoParent: a task of somebody without a span is the root of a trace of its own, and a panic
// ends its span.
func TestNoParent(t *testing.T) {
	provider, exporter := recorder(t)
	ns := start(t, provider, func(_ context.Context, task *assign.Task[string]) (string, error) {
		if task.Input == "panic" {
			panic("oh")
		}
		return "", assign.Permanent(errors.New("no use"))
	})
	for _, in := range []string{"panic", "permanent"} {
		exporter.Reset()
		p, err := assign.Submit(t.Context(), ns, say, in, assignotel.Inject(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		var dead *assign.TaskError
		if _, err := p.Wait(t.Context()); !errors.As(err, &dead) {
			t.Fatal(err)
		}
		if in == "panic" && !strings.Contains(dead.Stack, "trace_test.go") {
			t.Errorf("the stack does not show where it panicked:\n%s", dead.Stack)
		}
		want := map[string]string{"panic": "panicked", "permanent": "permanent"}[in]
		spans := attempts(exporter)
		if len(spans) != map[string]int{"panic": 2, "permanent": 1}[in] {
			t.Fatalf("%s: %d spans", in, len(spans))
		}
		for _, s := range spans {
			if got := attributes(s)["rolemanager.task.outcome"]; got != want || s.Parent.IsValid() ||
				s.Status.Code != codes.Error {
				t.Errorf("%s: outcome %q, parent valid: %v, status %v", in, got, s.Parent.IsValid(), s.Status)
			}
		}
	}
}

func TestWithoutErrors(t *testing.T) {
	provider, exporter := recorder(t)
	handler := assignotel.Middleware(assignotel.WithTracerProvider(provider), assignotel.WithoutErrors())(
		func(context.Context, *assign.Task[[]byte]) ([]byte, error) { return nil, errors.New(secret) })
	task := assigntest.NewTask(t, []byte(secret), assigntest.Kind("say"))
	if _, err := handler(t.Context(), task); err == nil {
		t.Fatal("the error is lost")
	}
	spans := attempts(exporter)
	if len(spans) != 1 || spans[0].Status.Code != codes.Error || strings.Contains(fmt.Sprintf("%+v", spans), secret) {
		t.Errorf("%+v", spans)
	}
}
