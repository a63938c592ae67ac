package assignotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
)

// Attributes of an outcome's span.
const (
	// AttributeState is the state in which a task has ended, one of assign.State.
	AttributeState = attribute.Key("rolemanager.task.state")
	// AttributeCause is why it has ended other than by success.
	AttributeCause = attribute.Key("rolemanager.task.cause")
	// AttributeWorker is the instance that had the task.
	AttributeWorker = attribute.Key("rolemanager.task.worker")
)

const (
	// maxWaiting bounds the tasks that are open, whose beginning is remembered.
	maxWaiting = 1 << 16
	askAgain   = time.Second
)

// Follow writes what happens to tasks between client and worker, until ctx ends: "queue KIND", from
// the submission until a worker has the task for the first time, and "outcome KIND", from the end
// of the last attempt until the outcome is stored. Both are children of the span that the task was
// submitted with. A task without one is left out.
//
// One process does that for a namespace: call Follow in the Lead of a role. It is one of the
// receivers of [assign.Events], and reads one record for each task that ends. Spans are missing for
// what was missed there, and a task that was open before has no "queue KIND". While no scheduler
// answers, Follow waits for one.
//
// Errors: those of [assign.Events] but ErrNoScheduler. Follow returns nil when ctx has ended.
func Follow(ctx context.Context, in assign.Submitter, opts ...Option) error {
	o, tracer := apply(opts)
	f := &spanWriter{in: in, o: o, tracer: tracer}
	for ctx.Err() == nil {
		events, err := assign.Events(ctx, in, assign.EventOptions{})
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, assign.ErrNoScheduler):
			select {
			case <-time.After(askAgain):
			case <-ctx.Done():
			}
		case err != nil:
			return err
		default:
			f.open = map[string]beginning{}
			for e := range events {
				f.see(ctx, e)
			}
			if ctx.Err() == nil {
				return assign.ErrClosed
			}
		}
	}
	return nil
}

// spanWriter holds what is known of the open tasks.
type spanWriter struct {
	in     assign.Submitter
	o      *options
	tracer trace.Tracer
	open   map[string]beginning
}

// beginning is what is remembered about an open task.
type beginning struct{ submitted, first, last time.Time } // first and last are when a worker got it

func (f *spanWriter) see(ctx context.Context, e assign.TaskEvent) {
	id := e.Task.ID
	b, known := f.open[id]
	switch e.Type {
	case assign.EventMissed:
		clear(f.open)
		return
	case assign.EventEnded:
		delete(f.open, id)
		f.ended(ctx, e.Task, b)
		return
	case assign.EventSubmitted:
		b.submitted = e.Task.Submitted
	case assign.EventRunning:
		if !known && e.Task.Attempts == 1 {
			b.submitted = e.Task.Submitted
		}
		b.last = time.Now()
		if b.first.IsZero() && !b.submitted.IsZero() {
			b.first = b.last
		}
	}
	if known || len(f.open) < maxWaiting {
		f.open[id] = b
	}
}

// ended writes the spans of a task that has ended. Its record says to which trace it belongs.
func (f *spanWriter) ended(ctx context.Context, told assign.TaskStatus, b beginning) {
	t, err := assign.Get(ctx, f.in, told.ID)
	if err != nil || t.TraceParent == "" || !t.State.Terminal() { // gone, or submitted again
		return
	}
	ctx = extract(ctx, t.TraceParent, "")
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	if !b.first.IsZero() {
		f.span(ctx, opQueue, trace.SpanKindInternal, &t, b.submitted, b.first).End(trace.WithTimestamp(b.first))
	}
	ended := t.Ended
	if ended.IsZero() {
		ended = time.Now()
	}
	from := ended
	if !b.last.IsZero() {
		from = b.last.Add(t.Ran)
	}
	span := f.span(ctx, opOutcome, trace.SpanKindConsumer, &t, from, ended)
	span.SetAttributes(AttributeState.String(string(t.State)), AttributeAttempt.Int(t.Attempts))
	if t.Worker != "" {
		span.SetAttributes(AttributeWorker.String(t.Worker))
	}
	if t.Cause != "" {
		span.SetAttributes(AttributeCause.String(t.Cause))
	}
	if t.Err != nil {
		f.o.fail(span, t.Err)
	}
	span.End(trace.WithTimestamp(ended))
}

// span begins a span. The two times may be told by two clocks.
func (f *spanWriter) span(ctx context.Context, operation string, kind trace.SpanKind, t *assign.TaskStatus,
	from, to time.Time,
) trace.Span {
	if from.After(to) {
		from = to
	}
	_, span := f.tracer.Start(ctx, operation+" "+t.Kind, trace.WithSpanKind(kind), trace.WithTimestamp(from),
		trace.WithAttributes(messaging(operation, t.Kind, t.ID)...))
	return span
}
