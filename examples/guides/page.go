package guides

import (
	"context"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
)

// servePage serves the page about a bucket and a namespace of tasks until ctx ends. Give it an
// address that only your operators reach, or put it behind what authenticates them.
func servePage(ctx context.Context, nc *nats.Conn, address string) error {
	o, err := election.Observe(ctx, nc, "roles", election.WithWorkers())
	if err != nil {
		return err
	}
	defer o.Close()
	jobs, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs"})
	if err != nil {
		return err
	}
	defer jobs.Close()
	page, err := dashboard.New(dashboard.Options{Observer: o, Tasks: []*assign.Client{jobs}, Title: "prod-eu"})
	if err != nil {
		return err
	}
	defer page.Close()
	s := http.Server{Addr: address, Handler: page, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}
