package assignotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
)

const scope = "github.com/rolemanager/rolemanager/assign/assignotel"

// Attributes of the spans, beside those of OpenTelemetry's conventions for messages.
const (
	// AttributeTask is the id of the task.
	AttributeTask = attribute.Key("rolemanager.task.id")
	// AttributeKind is the name of the task's kind.
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

// WithTracerProvider makes the spans with p. Default: the global one of otel.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *options) { o.provider = p } }

// WithoutErrors keeps the texts of errors and panics out of the spans: they may hold data of a
// task.
func WithoutErrors() Option { return func(o *options) { o.quiet = true } }

func apply(opts []Option) (*options, trace.Tracer) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if o.provider == nil {
		o.provider = otel.GetTracerProvider()
	}
	return &o, o.provider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
}

// Middleware makes a span for each attempt, "process KIND". Put this middleware first, so that the
// span covers the other middleware.
func Middleware(opts ...Option) assign.Middleware {
	o, tracer := apply(opts)
	return func(next assign.HandlerFunc) assign.HandlerFunc {
		return func(ctx context.Context, t *assign.Task[[]byte]) (out []byte, err error) {
			ctx, span := tracer.Start(extract(ctx, t.TraceParent(), t.Header(tracestate)), opProcess+" "+t.Kind(),
				trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(messaging(opProcess, t.Kind(), t.ID())...),
				trace.WithAttributes(AttributeAttempt.Int(t.Attempt()), semconv.MessagingMessageBodySize(len(t.Input))))
			returned := false
			defer func() {
				if !returned { // by a panic, which continues, or by the end of the goroutine
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

// ended says how an attempt that has returned ended. A shutdown of the worker is not an error, and
// neither is a task that asks to run later.
func (o *options) ended(ctx context.Context, span trace.Span, err error) {
	end := assign.EndOf(ctx, err)
	span.SetAttributes(AttributeOutcome.String(string(end)))
	switch end {
	case assign.EndFailed, assign.EndPermanent, assign.EndUndecodable:
		o.fail(span, err)
	case assign.EndDropped:
		o.fail(span, context.Cause(ctx))
	}
}

// panicked notes a panic, and does not recover it, so that the code that recovers it sees where it
// was.
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
