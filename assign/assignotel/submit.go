package assignotel

import (
	"context"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
)

// SubmitMiddleware makes a span for each submission, "submit KIND", a child of the span in its
// context. It makes the task a child of that span, so [Inject] is not needed. It is for
// assign.ClientConfig and assign.Config.
func SubmitMiddleware(opts ...Option) assign.SubmitMiddleware {
	o, tracer := apply(opts)
	return func(next assign.SubmitFunc) assign.SubmitFunc {
		return func(ctx context.Context, s *assign.Submitting) error {
			ctx, span := tracer.Start(extract(ctx, s.TraceParent, s.Headers[tracestate]), opSubmit+" "+s.Kind,
				trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(messaging(opSubmit, s.Kind, s.ID)...),
				trace.WithAttributes(semconv.MessagingMessageBodySize(len(s.Input))))
			defer span.End()
			if parent, state := inject(ctx); parent != "" {
				s.TraceParent = parent
				if delete(s.Headers, tracestate); state != "" {
					s.Headers[tracestate] = state
				}
			}
			err := next(ctx, s)
			if err != nil {
				o.fail(span, err)
			}
			return err
		}
	}
}
