package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Config describes where the tasks are and how they are worked on.
type Config struct {
	Addr      string // of the store
	Replicas  int    // of what is stored, 0: one server
	Name      string // of the process
	Slots     int    // handlers that run at once in it
	Tuned     bool
	Impatient bool
}

// Handler is the work: it gets the id under which the task was submitted, and returns its result.
type Handler func(ctx context.Context, id string) (string, error)

// Client submits.
type Client interface {
	// Submit returns when the store has acknowledged the task.
	Submit(ctx context.Context, payload string) (id string, err error)
	// Completed is how many tasks have a stored end.
	Completed(ctx context.Context) (int, error)
	// Outcome reports whether a task has completed, and with which result.
	Outcome(ctx context.Context, id string) (done bool, result string, err error)
	Close()
}

// Batcher is a client that stores many tasks with one request.
type Batcher interface {
	SubmitMany(ctx context.Context, payload string, n int) error
}

// Peer is one library.
type Peer struct {
	Name   string
	Module string // "" for this library
	Store  string
	// Replicated says that its store may be three servers, each of which has all.
	Replicated bool
	// Settings describes the settings that are made, and those that the peer makes by itself.
	Settings func(c Config) string
	Connect  func(ctx context.Context, c Config) (Client, error)
	// Work runs handlers in this process until ctx ends; it returns when they can be given tasks.
	Work func(ctx context.Context, c Config, h Handler) error
	// Rerun is the time after which the peer, with its defaults, runs a crashed worker's task
	// again, according to its source. It is set where that time is too long to wait for.
	Rerun time.Duration
}

// Peers are all of them, this library first.
var Peers = []Peer{rolemanagerPeer, asynqPeer, riverPeer, asyncjobsPeer}

// ByName finds one.
func ByName(name string) (Peer, error) {
	for _, p := range Peers {
		if p.Name == name {
			return p, nil
		}
	}
	return Peer{}, fmt.Errorf("queue: no peer %q", name)
}

// SubmitAll stores n tasks through many goroutines, as a service with many requests does, one
// request a task.
func SubmitAll(ctx context.Context, c Client, payload string, n, atOnce int) error {
	next, faults := make(chan struct{}), make(chan error, atOnce) // one fault from each
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for range next {
				if _, err := c.Submit(ctx, payload); err != nil {
					faults <- err
					cancel()
					return
				}
			}
		})
	}
	for range n {
		select {
		case next <- struct{}{}:
		case <-ctx.Done():
		}
	}
	close(next)
	all.Wait()
	close(faults)
	var err error
	for f := range faults {
		if err == nil || errors.Is(err, context.Canceled) {
			err = f
		}
	}
	return err
}
