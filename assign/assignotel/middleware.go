package assignotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
)

const scope = "github.com/rolemanager/rolemanager/assign/assignotel"

// Attributes of an attempt's span.
const (
	// AttributeTask is the id of the task.
	AttributeTask = attribute.Key("rolemanager.task.id")
	// AttributeKind is the name of its kind.
	AttributeKind = attribute.Key("rolemanager.task.kind")
	// AttributeAttempt counts the attempts that ran, this one included.
	AttributeAttempt = attribute.Key("rolemanager.task.attempt")
	// AttributeOutcome is how the attempt ended, one of assign.AttemptEnd, or "panicked".
	AttributeOutcome = attribute.Key("rolemanager.task.outcome")
)

// Option changes what Middleware does.
type Option func(*options)

type options struct {
	provider trace.TracerProvider
	quiet    bool
}

// WithTracerProvider makes the spans with p (otel's global one).
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *options) { o.provider = p } }

// WithoutErrors keeps the texts of errors and panics out of the spans: they may hold what a task was about.
func WithoutErrors() Option { return func(o *options) { o.quiet = true } }

// Middleware makes a span for each attempt. It is named after the kind. Put it first, so that what other middleware does is
// part of the span.
func Middleware(opts ...Option) assign.Middleware {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if o.provider == nil {
		o.provider = otel.GetTracerProvider()
	}
	tracer := o.provider.Tracer(scope)
	return func(next assign.HandlerFunc) assign.HandlerFunc {
		return func(ctx context.Context, t *assign.Task[[]byte]) (out []byte, err error) {
			ctx, span := tracer.Start(extract(ctx, t.TraceParent()), "task "+t.Kind(), trace.WithSpanKind(trace.SpanKindConsumer),
				trace.WithAttributes(AttributeTask.String(t.ID()), AttributeKind.String(t.Kind()), AttributeAttempt.Int(t.Attempt())))
			returned := false
			defer func() {
				if !returned { // by a panic, which goes on, or by the end of the goroutine
					o.panicked(span)
				}
				span.End()
			}()
			out, err = next(ctx, t)
			returned = true
			o.ended(ctx, span, err)
			return out, err
		}
	}
}

// ended says how an attempt that has returned ended. That the worker shuts down, or that the task wants to be run later, is
// no error.
func (o *options) ended(ctx context.Context, span trace.Span, err error) {
	end := assign.EndOf(ctx, err)
	span.SetAttributes(AttributeOutcome.String(string(end)))
	switch end {
	case assign.EndFailed, assign.EndPermanent:
		o.fail(span, err)
	case assign.EndDropped:
		o.fail(span, context.Cause(ctx))
	}
}

// panicked notes a panic, and does not recover it: who does so sees where it was.
func (o *options) panicked(span trace.Span) {
	span.SetAttributes(AttributeOutcome.String("panicked"))
	o.fail(span, errPanicked)
}

var errPanicked = errors.New("the handler panicked, or ended its goroutine")

func (o *options) fail(span trace.Span, err error) {
	if o.quiet {
		span.SetStatus(codes.Error, "")
		return
	}
	span.RecordError(err)
	span.SetStatus(codes.Error, err.Error())
}
