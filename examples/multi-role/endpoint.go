package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// endpoint is an HTTP server of this process.
type endpoint struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{}
}

// listen serves handler on an address until close.
func listen(address string, handler http.Handler) (*endpoint, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	e := &endpoint{listener: l, server: &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}, done: make(chan struct{})}
	go func() { // joined by close
		defer close(e.done)
		_ = e.server.Serve(l)
	}()
	return e, nil
}

// newEndpoint serves a member's own metrics under /metrics, and under /together, unless that is nil, those of all members while
// it leads the metrics role. It is published in the member record, and so found by whoever leads that role.
func newEndpoint(registry *prometheus.Registry, together http.Handler) (*endpoint, error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	if together != nil {
		mux.Handle("GET /together", together)
	}
	return listen("127.0.0.1:0", mux)
}

func (e *endpoint) url() string { return "http://" + e.listener.Addr().String() }

// close lets requests end for a moment, then ends them.
func (e *endpoint) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if e.server.Shutdown(ctx) != nil {
		_ = e.server.Close()
	}
	<-e.done
}
