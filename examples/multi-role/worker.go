package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/roles"
)

// workerArgument, alone on the command line, makes the program a worker: see process.go.
const workerArgument = "worker"

// workerConfig is what a worker is told, as one JSON document on its standard input.
type workerConfig struct {
	URL        string
	InstanceID string
	Bucket     string // also the namespace of the tasks
	Replicas   int
	TTL        time.Duration
}

// work is the whole of a process that leads nothing and runs tasks: a manager without roles. It ends gracefully when ctx or
// its standard input does, so it does not outlive who has started it. On out it says how many tasks it runs.
func work(ctx context.Context, in io.Reader, out io.Writer) error {
	var c workerConfig
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return fmt.Errorf("a worker is started by multi-role, which tells it on standard input where to work: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with standard input, or with the process
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()

	manager, err := roles.New(roles.Config{
		URL: c.URL, Bucket: c.Bucket, BucketAutoCreate: true, Replicas: c.Replicas, InstanceID: c.InstanceID, TTL: c.TTL,
	})
	if err != nil {
		return err
	}
	session := manager.Session()
	tasks, err := takePart(session, c.Bucket, c.Replicas)
	if err != nil {
		return err
	}
	ping, runs := &prober{session: session}, &running{out: out}
	err = errors.Join(
		assign.Handle(tasks, checksum, func(ctx context.Context, t *assign.Task[checksumIn]) (checksumOut, error) {
			runs.add(1)
			defer runs.add(-1)
			return checksumFile(ctx, t)
		}),
		assign.Handle(tasks, inventory, count),
		session.Attach("ping", ping.answer))
	if err != nil {
		return err
	}
	return manager.Run(ctx)
}

// running is how many tasks run, told with each change: a number on a line.
type running struct {
	out io.Writer
	mu  sync.Mutex
	n   int
}

func (r *running) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n += n
	_, _ = fmt.Fprintln(r.out, r.n) // whoever does not listen does not show it
}
