package dev

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
)

// pageAt is the address of the page.
const pageAt = "127.0.0.1:8223"

// servePage serves the page on loopback, with the right to steer: this server is for development.
func (d *devServer) servePage(ctx context.Context, nc *nats.Conn) (url string, end func(), err error) {
	at := pageAt
	if d.port == 0 {
		at = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if taken(err) {
		return "", nil, fmt.Errorf("--ui: %s is in use: give --port 0 to use free ports for the page and the server", at)
	}
	if err != nil {
		return "", nil, fmt.Errorf("--ui: %w", err)
	}
	o, err := election.Observe(ctx, nc, d.a.Bucket, election.WithWorkers())
	if err != nil {
		_ = l.Close()
		return "", nil, err
	}
	h, c, err := d.makePage(nc, o)
	if err != nil {
		_ = l.Close()
		o.Close()
		return "", nil, err
	}
	s := http.Server{
		Handler: cli.OwnHosts(at, nil, h), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l) // it ends with Close
	}()
	return "http://" + l.Addr().String() + "/", func() {
		h.Close()
		_ = s.Close()
		<-served
		c.Close()
		o.Close()
	}, nil
}

func (d *devServer) makePage(nc *nats.Conn, o *election.Observer) (*dashboard.Handler, *assign.Client, error) {
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: d.namespace})
	if err != nil {
		return nil, nil, err
	}
	h, err := dashboard.New(dashboard.Options{
		Observer: o, Tasks: []*assign.Client{c}, ShowPayloads: true,
		Steer: func(*http.Request) (string, bool) { return "the user of rolectl dev", true },
	})
	if err != nil {
		c.Close()
	}
	return h, c, err
}
