package assignotel_test

import (
	"context"
	"fmt"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/assignotel"
	"github.com/rolemanager/rolemanager/assigntest"
)

func Example() {
	provider := sdk.NewTracerProvider()
	defer func() { _ = provider.Shutdown(context.Background()) }()

	// Submitting: assign.Submit(ctx, to, kind, input, assignotel.Inject(ctx)).
	ctx, span := provider.Tracer("example").Start(context.Background(), "request")
	defer span.End()
	_ = assignotel.Inject(ctx)

	// Working: assign.Config{Middleware: []assign.Middleware{assignotel.Middleware()}}. Each
	// attempt has a span in its context.
	handle := assignotel.Middleware(assignotel.WithTracerProvider(provider))(
		func(ctx context.Context, _ *assign.Task[[]byte]) ([]byte, error) {
			return []byte(trace.SpanContextFromContext(ctx).TraceID().String()), nil
		})
	parent := fmt.Sprintf("00-%s-%s-01", span.SpanContext().TraceID(), span.SpanContext().SpanID())
	trace, err := handle(context.Background(), assigntest.NewTask(&testing.B{}, []byte("input"),
		assigntest.TraceParent(parent)))
	fmt.Println(string(trace) == span.SpanContext().TraceID().String(), err)
	// Output: true <nil>
}
