package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/metrics"
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

// work is the whole of a process that leads nothing and runs tasks: a manager without roles. It ends gracefully when in ends,
// which is when whoever has started it closes that, or is no more. On out it says which tasks it runs.
func work(in io.Reader, out io.Writer) error {
	var c workerConfig
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return fmt.Errorf("a worker is started by multi-role, which tells it on standard input where to work: %w", err)
	}
	registry := prometheus.NewRegistry()
	counters, err := metrics.New(registry, metrics.WithInstanceLabel())
	if err != nil {
		return err
	}
	endpoint, err := newEndpoint(registry, nil)
	if err != nil {
		return err
	}
	defer endpoint.close()
	manager, err := roles.New(roles.Config{
		URL: c.URL, Bucket: c.Bucket, BucketAutoCreate: true, Replicas: c.Replicas, InstanceID: c.InstanceID, TTL: c.TTL,
		Meta: map[string]string{metaURL: endpoint.url()}, Sinks: []event.Sink{counters},
	})
	if err != nil {
		return err
	}
	session := manager.Session()
	tasks, err := takePart(session, c.Bucket, c.Replicas)
	if err != nil {
		return err
	}
	ping, log := &answerer{session: session}, &taskLog{out: json.NewEncoder(out)}
	err = errors.Join(
		assign.Handle(tasks, checksum, func(ctx context.Context, t *assign.Task[checksumIn]) (checksumOut, error) {
			log.write(taskLine{t.ID(), true})
			defer log.write(taskLine{t.ID(), false})
			return checksumFile(ctx, t)
		}),
		assign.Handle(tasks, inventory, count),
		session.Attach("ping", ping.answer))
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with its input, or else with the process, whose last act this function is
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	return manager.Run(ctx)
}

// taskLine says that a task begins or ends to run here.
type taskLine struct {
	ID      string
	Running bool
}

// taskLog is where a worker says which tasks it runs: before a handler begins, and before its end is known to anybody else. So
// a task waits for whoever has started the worker, if that one stands still and reads nothing; it does not if that one is gone.
type taskLog struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (l *taskLog) write(line taskLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.out.Encode(line)
}
