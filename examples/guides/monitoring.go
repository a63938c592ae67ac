package guides

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/metrics"
	"github.com/rolemanager/rolemanager/roles"
)

// monitored runs a manager whose metrics and health endpoints are served on one address.
func monitored(ctx context.Context, cfg roles.Config, address string, all ...roles.Role) error {
	registry := prometheus.NewRegistry()
	counters, err := metrics.New(registry)
	if err != nil {
		return err
	}
	cfg.Sinks = append(cfg.Sinks, event.Sink(counters))
	m, err := roles.New(cfg, all...)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", m.Handler())
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	server := &http.Server{Addr: address, Handler: mux}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	err = m.Run(ctx) // the endpoints are there until the last role is handed over
	err = errors.Join(err, server.Close())
	if s := <-served; !errors.Is(s, http.ErrServerClosed) {
		err = errors.Join(err, s)
	}
	return err
}
