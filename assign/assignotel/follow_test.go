package assignotel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/assignotel"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWholeTrace: what client, scheduler and worker write about a task is one trace below its
// submission, by the conventions for messages, and the tracestate reaches the handler.
func TestWholeTrace(t *testing.T) {
	theirs, spansOfClient := recorder(t)
	worker, spansOfWorker := recorder(t)
	follower, spansOfFollower := recorder(t)
	states := make(chan string, 8)
	ns := start(t, worker, func(ctx context.Context, task *assign.Task[string]) (string, error) {
		states <- trace.SpanContextFromContext(ctx).TraceState().String()
		if task.Input == "fails" {
			return "", assign.Permanent(errors.New("no use"))
		}
		return "", nil
	})
	following, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- assignotel.Follow(following, ns, assignotel.WithTracerProvider(follower)) }()
	c, err := assign.NewClient(ns.Conn, assign.ClientConfig{
		Namespace: "test", StreamAutoCreate: true, SubmitMiddleware: []assign.SubmitMiddleware{
			assignotel.SubmitMiddleware(assignotel.WithTracerProvider(theirs)),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	state, err := trace.ParseTraceState("vendor=value")
	if err != nil {
		t.Fatal(err)
	}
	outside := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state,
	})
	// Follow begins at some time, and sees the tasks from then on.
	natstest.Eventually(t, "tasks are followed", time.Minute, func() (bool, string) {
		p, err := assign.Submit(t.Context(), c, say, "first")
		if err == nil {
			_, err = p.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		<-states
		return len(spansOfFollower.GetSpans()) > 0, "no span"
	})
	for _, in := range []string{"succeeds", "fails"} {
		ctx := trace.ContextWithSpanContext(t.Context(), outside)
		p, err := assign.Submit(ctx, c, say, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); errors.Is(err, assign.ErrTaskDead) != (in == "fails") {
			t.Fatal(err)
		}
		if got := <-states; got != "vendor=value" {
			t.Errorf("the handler's tracestate is %q", got)
		}
		var all []tracetest.SpanStub
		natstest.Eventually(t, "the outcome is written", time.Minute, func() (bool, string) {
			all = nil
			for _, e := range []*tracetest.InMemoryExporter{spansOfClient, spansOfFollower, spansOfWorker} {
				for _, s := range e.GetSpans() {
					if attributes(s)["messaging.message.id"] == p.ID() {
						all = append(all, s)
					}
				}
			}
			return len(all) >= 4, fmt.Sprint(len(all), " spans")
		})
		check(t, outside, all, in == "fails")
	}
	cancel()
	if err := <-followed; err != nil {
		t.Error(err)
	}
}

// check fails the test unless the spans of a task are whole.
func check(t *testing.T, outside trace.SpanContext, all []tracetest.SpanStub, fails bool) {
	t.Helper()
	submit, kinds := all[0], map[string]trace.SpanKind{}
	for _, s := range all {
		operation, kind, _ := strings.Cut(s.Name, " ")
		a := attributes(s)
		if kinds[operation] = s.SpanKind; kind != "say" || a["messaging.system"] != "rolemanager" ||
			a["messaging.operation.name"] != operation || a["messaging.destination.name"] != "say" {
			t.Errorf("%s: %v", s.Name, a)
		}
		if s.SpanContext.TraceID() != outside.TraceID() {
			t.Errorf("%s is of trace %s", s.Name, s.SpanContext.TraceID())
		}
		parent := submit.SpanContext.SpanID()
		if operation == "submit" {
			parent = outside.SpanID()
		}
		if s.Parent.SpanID() != parent || s.EndTime.Before(s.StartTime) {
			t.Errorf("%s below %s from %v to %v", s.Name, s.Parent.SpanID(), s.StartTime, s.EndTime)
		}
		failed := fails && slices.Contains([]string{"process", "outcome"}, operation)
		if (s.Status.Code == codes.Error) != failed {
			t.Errorf("%s: %+v", s.Name, s.Status)
		}
		state := map[bool]string{false: "succeeded", true: "dead"}[fails]
		if operation == "outcome" && (a["rolemanager.task.state"] != state || a["rolemanager.task.attempt"] != "1") {
			t.Errorf("%v", a)
		}
	}
	if len(all) != 4 || kinds["submit"] != trace.SpanKindProducer || kinds["process"] != trace.SpanKindConsumer ||
		kinds["queue"] != trace.SpanKindInternal || kinds["outcome"] != trace.SpanKindConsumer {
		t.Errorf("%d spans: %v", len(all), kinds)
	}
}

// TestLongTracestate: it stays behind, and the task does not fail.
func TestLongTracestate(t *testing.T) {
	state, err := trace.ParseTraceState("a=" + strings.Repeat("v", 250) + ",b=" + strings.Repeat("v", 250) + ",c=" +
		strings.Repeat("v", 250))
	if err != nil {
		t.Fatal(err)
	}
	provider, _ := recorder(t)
	submit := assignotel.SubmitMiddleware(assignotel.WithTracerProvider(provider))(
		func(_ context.Context, s *assign.Submitting) error {
			if s.TraceParent == "" || s.Headers["tracestate"] != "" || s.Headers["own"] != "x" {
				t.Errorf("%+v", s)
			}
			return nil
		})
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceState: state, TraceFlags: trace.FlagsSampled,
	}))
	if err := submit(ctx, &assign.Submitting{ID: "x", Kind: "say", Headers: map[string]string{"own": "x"}}); err != nil {
		t.Error(err)
	}
}
