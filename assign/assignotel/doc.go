// Package assignotel carries traces of OpenTelemetry along with tasks: from the submitter to the
// handler and to the outcome.
//
// [Inject] gives a submission the traceparent of the span in ctx. [Middleware] makes a span for
// each attempt, a child of that one, and gives it to the handler by its context. The outcome's
// record keeps the traceparent of its submission.
//
// # Promises
//
//   - A span holds nothing of a task's input, output, checkpoint or headers. It holds the text of
//     an error, see [WithoutErrors].
//   - A task without a traceparent, or with one that cannot be read, gets a span without a parent.
//   - A panic ends the span and continues.
//
// # Failures
//
// The package adds no failures. No task fails if the exporter cannot deliver a span. The tracestate
// of W3C does not go along.
//
// Package assign knows nothing of OpenTelemetry.
package assignotel
