package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/roles"
)

const (
	candidate = "candidate" // may become the scheduler, and runs tasks
	worker    = "worker"    // runs tasks only
)

// Lines of a process that takes part, to the one that has started it.
const (
	completionLine = "the completion runs"
	ranLine        = "ran "
)

// takePart is the whole of such a process. It ends gracefully when its standard input ends, as it
// does when the process that has started it is gone.
func takePart(o options) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // ends with the process at the latest
		defer stop()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	m, err := roles.New(roles.Config{
		URL: o.url, Bucket: o.name, BucketAutoCreate: true, Replicas: o.replicas, InstanceID: o.id, TTL: o.ttl,
		WorkerOnly: o.as == worker, Sinks: []event.Sink{roles.SlogSink(nil)},
	})
	if err != nil {
		return err
	}
	a, err := assign.New(m.Session(), assign.Config{
		Namespace: o.name, Role: "scheduler", StreamAutoCreate: true, Replicas: o.replicas, Slots: o.slots,
	})
	if err != nil {
		return err
	}
	if err := assign.Handle(a, member, square(o.work)); err != nil {
		return err
	}
	if err := assign.Handle(a, completion, complete(a)); err != nil {
		return err
	}
	if name, lead := a.Role(); o.as == candidate {
		if err := m.Add(roles.Role{Name: name, Lead: lead}); err != nil {
			return err
		}
	}
	go tell(ctx)
	return m.Run(ctx)
}

// tell says now and then how many members have run here.
func tell(ctx context.Context) {
	for tick := time.Tick(50 * time.Millisecond); ; {
		select {
		case <-tick:
			fmt.Print(ranLine, ran.Load(), "\n")
		case <-ctx.Done():
			return
		}
	}
}
