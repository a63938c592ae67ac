package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/roles"
)

const (
	manager = "manager" // may lead the role, and runs no work
	agent   = "agent"   // runs work, and takes part in no role
	role    = "control"
)

// change is what an agent does to its host.
type change struct {
	Service string
	Version int
}

// apply is the kind of work. Its outcome is the agent that has applied the change.
var apply = assign.NewKind[change, string]("apply.v1", assign.MaxAttempts(5))

// takePart is the whole of a manager or an agent. It ends gracefully when its standard input ends,
// which it also does when the process that has started it is gone.
func takePart(url, as, id string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // ends with the process at the latest
		defer stop()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	m, err := roles.New(roles.Config{
		URL: url, Bucket: role, BucketAutoCreate: true, InstanceID: id, TTL: 2 * time.Second, WorkerOnly: as == agent,
	})
	if err != nil {
		return err
	}
	a, err := assign.New(m.Session(), assign.Config{Namespace: role, Role: role, StreamAutoCreate: true, Slots: 4})
	if err != nil {
		return err
	}
	if as == agent {
		err = assign.Handle(a, apply, func(ctx context.Context, _ *assign.Task[change]) (string, error) {
			select {
			case <-time.After(10 * time.Millisecond): // the work
				return id, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		})
	} else {
		name, lead := a.Role()
		err = m.Add(roles.Role{Name: name, Lead: lead})
	}
	if err != nil {
		return err
	}
	return m.Run(ctx)
}
