package assignotel

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
)

// traceparent is the header of W3C's Trace Context.
const traceparent = "traceparent"

// Inject makes the submission a child of the span in ctx, and so the span of each attempt too.
// Without a span in ctx the task has no parent.
func Inject(ctx context.Context) assign.SubmitOption {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return assign.WithTraceParent(carrier[traceparent])
}

// extract is ctx with the submitter's span as the remote parent.
func extract(ctx context.Context, parent string) context.Context {
	if parent == "" || trace.SpanContextFromContext(ctx).IsValid() { // other middleware has made a span
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: parent})
}
