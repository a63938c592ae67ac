package electionotel_test

import (
	"context"
	"fmt"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rolemanager/rolemanager/election/electionotel"
	"github.com/rolemanager/rolemanager/event"
)

var _ sdk.IDGenerator = (*electionotel.IDGenerator)(nil)

// A manager calls Observe by itself when the Sink is one of its sinks; here it is done by hand.
func ExampleNewSink() {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter), sdk.WithIDGenerator(electionotel.NewIDGenerator()))
	defer func() { _ = provider.Shutdown(context.Background()) }()
	sink := electionotel.NewSink(electionotel.WithTracerProvider(provider))

	meta := event.Meta{Time: time.Now(), Bucket: "roles", Instance: "node-1", Session: 41}
	sink.Observe(event.RoleDemoted{Meta: meta, Role: "billing", Epoch: 42, Reason: "stepped down"})
	sink.Observe(event.RoleDrained{Meta: meta, Role: "billing", Epoch: 42})
	sink.Observe(event.RoleVacant{Meta: meta, Role: "billing", By: "node-1", Reason: "stepped down", Epoch: 42})
	sink.Observe(event.LeaderChanged{Meta: meta, Role: "billing", Leader: "node-2", Epoch: 43})

	for _, s := range exporter.GetSpans() {
		fmt.Println(s.Name, s.SpanContext.TraceID() == electionotel.TraceID("roles", "billing", 42))
	}
	// Output:
	// drain billing true
	// vacate billing true
	// hand over billing true
}
