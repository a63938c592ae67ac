package assignotel

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
)

// The headers of W3C's Trace Context. A longer tracestate does not go along: it would take the
// room of the task's own headers.
const (
	traceparent   = "traceparent"
	tracestate    = "tracestate"
	maxTracestate = 512
)

// Inject makes the submission a child of the span in ctx, and so the span of each attempt too.
// Without a span in ctx the task has no parent. Use [SubmitMiddleware] instead for a span of the
// submission.
func Inject(ctx context.Context) assign.SubmitOption {
	parent, state := inject(ctx)
	return assign.WithTrace(parent, state)
}

// inject is the span in ctx as text, "" for none.
func inject(ctx context.Context) (parent, state string) {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if state = carrier[tracestate]; len(state) > maxTracestate {
		state = ""
	}
	return carrier[traceparent], state
}

// extract is ctx with the submitter's span as the remote parent.
func extract(ctx context.Context, parent, state string) context.Context {
	if parent == "" || trace.SpanContextFromContext(ctx).IsValid() { // other middleware has made a span
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: parent, tracestate: state})
}
