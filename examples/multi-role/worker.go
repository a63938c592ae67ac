package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// runWorker runs tasks, and contends for no role, until ctx ends. Then its tasks may finish.
func runWorker(ctx context.Context, c config) error {
	registry := prometheus.NewRegistry()
	manager, err := newManager(c, registry)
	if err != nil {
		return err
	}
	if _, err := newTasks(manager.Session(), c); err != nil {
		return err
	}
	if _, err := newPing(manager.Session()); err != nil {
		return err
	}
	defer serve(c.Listener, newPages(manager, registry))()
	return manager.Run(ctx)
}
