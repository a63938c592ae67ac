package guides

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assigntest"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// keptSpans are still there when the provider is shut down.
type keptSpans struct{ *tracetest.InMemoryExporter }

func (keptSpans) Shutdown(context.Context) error { return nil }

// keptMetrics is what was exported last.
type keptMetrics struct {
	metric.Exporter
	last map[string]metricdata.Aggregation
}

func (*keptMetrics) Temporality(metric.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}

func (*keptMetrics) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(k)
}

func (k *keptMetrics) Export(_ context.Context, m *metricdata.ResourceMetrics) error {
	k.last = map[string]metricdata.Aggregation{}
	for _, s := range m.ScopeMetrics {
		for _, m := range s.Metrics {
			k.last[m.Name] = m.Data
		}
	}
	return nil
}

func (*keptMetrics) ForceFlush(context.Context) error { return nil }
func (*keptMetrics) Shutdown(context.Context) error   { return nil }

// TestTracing: two processes hand a role over, which is one trace; and what one of them measures is
// what OpenTelemetry gets.
func TestTracing(t *testing.T) {
	nc := connection(t)
	led, aware := make(chan string, 1), make(chan struct{})
	var spans [2]keptSpans
	var stops [2]func() error
	var kept keptMetrics
	var meters *metric.MeterProvider
	for i, id := range []string{"a", "b"} {
		spans[i].InMemoryExporter = tracetest.NewInMemoryExporter()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		cfg := roles.Config{Conn: nc, Bucket: "roles", BucketAutoCreate: true, InstanceID: id}
		if id == "b" { // the one that takes over
			saw := sync.OnceFunc(func() { close(aware) })
			cfg.Sinks = append(cfg.Sinks, event.SinkFunc(func(e event.Event) {
				if c, ok := e.(event.LeaderChanged); ok && c.Leader == "a" {
					saw()
				}
			}))
			var err error
			if meters, err = measured(&cfg, &kept); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = meters.Shutdown(context.Background()) })
		}
		billing := roles.Role{Name: "billing", Lead: func(ctx context.Context, _ *election.Term) error {
			led <- id
			<-ctx.Done()
			return nil
		}}
		go func() { ended <- traced(ctx, cfg, spans[i], billing) }()
		stops[i] = func() error { cancel(); return <-ended }
		if i == 0 {
			<-led
		}
	}
	<-aware // a process that has not seen the term before its own is the first leader, to its knowledge
	if err := stops[0](); err != nil {
		t.Error(err)
	}
	if id := <-led; id != "b" {
		t.Fatalf("%s leads", id)
	}
	natstest.Eventually(t, "the metrics say who leads", time.Minute, func() (bool, string) {
		if err := meters.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
		leads, ok := kept.last["election_is_leader"].(metricdata.Gauge[float64])
		return ok && len(leads.DataPoints) == 1 && leads.DataPoints[0].Value == 1, "not b"
	})
	if took, ok := kept.last["election_failover_duration_seconds"].(metricdata.Histogram[float64]); !ok ||
		len(took.DataPoints) != 1 || took.DataPoints[0].Count != 1 {
		t.Errorf("%+v", kept.last["election_failover_duration_seconds"])
	}
	if err := stops[1](); err != nil {
		t.Error(err)
	}
	traces := map[string]string{}
	for i := range spans {
		for _, s := range spans[i].GetSpans() {
			if i == 0 || strings.HasPrefix(s.Name, "claim") {
				traces[s.Name] = s.SpanContext.TraceID().String()
			}
		}
	}
	want := traces["claim billing"]
	for _, name := range []string{"hand over billing", "drain billing", "vacate billing"} {
		if traces[name] != want || want == "" {
			t.Errorf("%s is not in the trace of the claim: %v", name, traces)
		}
	}
}

// TestTracedTasks: the span of an attempt is below that of the submission.
func TestTracedTasks(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	greeting := assign.NewKind[string, string]("greeting.v1")
	ns := assigntest.Start(t, func(a *assign.Assigner) {
		if err := assign.Handle(a, greeting, func(context.Context, *assign.Task[string]) (string, error) {
			return "", nil
		}); err != nil {
			t.Fatal(err)
		}
	}, assigntest.Configure(func(c *assign.Config) { c.Middleware = tracedWorker(provider).Middleware }))
	cfg := tracedClient(provider)
	cfg.Namespace, cfg.StreamAutoCreate = "test", true // that of assigntest
	c, err := assign.NewClient(ns.Conn, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- chronicler(c, provider).Lead(ctx, nil) }()
	natstest.Eventually(t, "the spans are one trace", time.Minute, func() (bool, string) {
		exporter.Reset()
		p, err := assign.Submit(t.Context(), c, greeting, "you")
		if err == nil {
			_, err = p.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		var submit trace.SpanID
		below := map[string]trace.SpanID{}
		for _, s := range exporter.GetSpans() {
			if below[s.Name] = s.Parent.SpanID(); s.Name == "submit greeting.v1" {
				submit = s.SpanContext.SpanID()
			}
		}
		return below["process greeting.v1"] == submit && below["outcome greeting.v1"] == submit, fmt.Sprint(below)
	})
	cancel()
	if err := <-followed; err != nil {
		t.Error(err)
	}
}
