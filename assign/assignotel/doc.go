// Package assignotel carries traces of OpenTelemetry along with tasks: from the submitter to the
// handler and to the outcome.
//
// [SubmitMiddleware] makes a span for each submission. [Middleware] makes a span for each attempt,
// a child of that one, and gives it to the handler by its context. [Follow] writes the time in
// between, and the outcome. [Inject] makes the span in ctx the parent, for a client without
// middleware. The outcome's record keeps the traceparent of its submission.
//
// The spans are named submit, queue, process and outcome, and the kind. Their attributes are those
// of OpenTelemetry's conventions for messages, with the kind as the destination, and some more.
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
// of W3C goes along as a header of the task, "tracestate", if it has 512 bytes at most.
//
// Package assign knows nothing of OpenTelemetry.
package assignotel
