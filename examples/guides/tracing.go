package guides

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/assignotel"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/election/electionotel"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/metrics"
	"github.com/rolemanager/rolemanager/roles"
)

// traced runs a manager that writes spans about its hand-overs.
func traced(ctx context.Context, cfg roles.Config, exporter sdk.SpanExporter, all ...roles.Role) error {
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithIDGenerator(electionotel.NewIDGenerator()))
	cfg.Sinks = append(cfg.Sinks, event.Sink(electionotel.NewSink(electionotel.WithTracerProvider(provider))))
	m, err := roles.New(cfg, all...)
	if err == nil {
		err = m.Run(ctx)
	}
	return errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx))) // the last hand-over is written too
}

// tracedClient submits tasks with a span for each.
func tracedClient(provider trace.TracerProvider) assign.ClientConfig {
	return assign.ClientConfig{
		Namespace:        "jobs",
		SubmitMiddleware: []assign.SubmitMiddleware{assignotel.SubmitMiddleware(assignotel.WithTracerProvider(provider))},
	}
}

// tracedWorker runs tasks with a span for each attempt.
func tracedWorker(provider trace.TracerProvider) assign.Config {
	return assign.Config{
		Namespace: "jobs", Role: "scheduler", StreamAutoCreate: true,
		Middleware: []assign.Middleware{assignotel.Middleware(assignotel.WithTracerProvider(provider))},
	}
}

// chronicler is a role whose leader writes the spans between client and worker.
func chronicler(c *assign.Client, provider trace.TracerProvider) roles.Role {
	return roles.Role{Name: "chronicler", Lead: func(ctx context.Context, _ *election.Term) error {
		return assignotel.Follow(ctx, c, assignotel.WithTracerProvider(provider))
	}}
}

// measured gives the metrics of a manager to OpenTelemetry.
func measured(cfg *roles.Config, exporter metric.Exporter) (*metric.MeterProvider, error) {
	registry := prometheus.NewRegistry()
	counters, err := metrics.New(registry)
	if err != nil {
		return nil, err
	}
	cfg.Sinks = append(cfg.Sinks, event.Sink(counters))
	producer := bridge.NewMetricProducer(bridge.WithGatherer(registry))
	return metric.NewMeterProvider(
		metric.WithReader(metric.NewPeriodicReader(exporter, metric.WithProducer(producer)))), nil
}
