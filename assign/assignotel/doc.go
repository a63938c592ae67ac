// Package assignotel carries traces of OpenTelemetry along with tasks: from where they are submitted to the handler and to the
// outcome.
//
//	span of the submitter ──Inject──► traceparent of the task ──► span of each attempt ──► whatever the handler does
//	                                          └──► traceparent of the outcome
//
// [Inject] gives a submission the traceparent of the span in ctx. [Middleware] makes a span for each attempt, a child of that
// one, and gives it to the handler by its context. The outcome's record keeps the traceparent of its submission.
//
// # Promises
//
//   - Nothing of a task's input, output, checkpoint or headers is put into a span; of an error its text is, see
//     [WithoutErrors].
//   - A task without a traceparent, or with one that cannot be read, gets a span without a parent.
//   - A panic ends the span and goes on.
//
// # Failures
//
// The package has none of its own: what the exporter cannot deliver is its own affair, and no task fails by it. The tracestate
// of W3C does not go along.
//
// Package assign knows nothing of OpenTelemetry.
//
// # Files
//
// inject.go the submitter's side · middleware.go the worker's.
package assignotel
