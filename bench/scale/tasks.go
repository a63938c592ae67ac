//go:build linux

package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/bench/proc"
)

// tasks measures N tasks that are open while nobody works.
func tasks(ctx context.Context, r *run) error {
	return r.grow(ctx, "tasks", []int{100, 1000}, []int{1000, 10_000, 100_000, 300_000, 1_000_000}, r.tasksAt)
}

func (r *run) tasksAt(ctx context.Context, n int) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	add := func(name string, v float64) {
		if err == nil {
			err = r.add("tasks", n, figure{name, v})
		}
	}
	schedule := hostConfig{Name: "first", Members: 1, Scheduler: true, TTL: memberTTL}
	first, err := s.host(schedule)
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, recovered, 0, 1); err != nil {
		return err
	}
	bare, err := first.Memory(ctx)
	if err != nil {
		return err
	}
	nc, err := nats.Connect("nats://" + s.addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "scale", StreamAutoCreate: true, Storage: jetstream.FileStorage})
	if err != nil {
		return err
	}
	defer c.Close()
	from := time.Now()
	if err := submit(ctx, c, n); err != nil {
		return err
	}
	add("submitted/s", float64(n)/time.Since(from).Seconds())
	if err := settled(ctx, c, n); err != nil {
		return err
	}
	var stored uint64
	if err := s.server.Call(ctx, "stored", nil, &stored); err != nil {
		return err
	}
	add("stored-bytes/task", float64(stored)/float64(n))
	books, err := first.Memory(ctx)
	if err != nil {
		return err
	}
	add("bytes/task", (float64(books.Heap)-float64(bare.Heap))/float64(n))
	// The next scheduler reads all of them.
	schedule.Name = "second"
	if _, err := s.host(schedule); err != nil {
		return err
	}
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	stopped := proc.Now()
	if err := first.Call(ctx, "stop", nil, nil); err != nil {
		return err
	}
	ready, err := s.await(ctx, recovered, stopped, 1)
	if err != nil {
		return err
	}
	took, err := strconv.ParseInt(ready[0].Of, 10, 64)
	if err != nil {
		return err
	}
	add("ready-ms", ms(took))
	from = time.Now()
	if _, err := s.host(hostConfig{Name: "worker", Members: 3, WorkerOnly: true, Slots: 512, TTL: memberTTL}); err != nil {
		return err
	}
	if err := settled(ctx, c, 0); err != nil {
		return err
	}
	add("run/s", float64(n)/time.Since(from).Seconds())
	return err
}

// submit stores n tasks, many requests at once.
func submit(ctx context.Context, c *assign.Client, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan struct{})
	var all sync.WaitGroup
	for range 512 {
		all.Go(func() {
			for range next {
				if _, err := assign.Submit(ctx, c, scheduled, []byte("0123456789abcdef")); err != nil {
					cancel(err)
				}
			}
		})
	}
	for range n {
		next <- struct{}{}
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}

// settled waits until the scheduler has n tasks on its books.
func settled(ctx context.Context, c *assign.Client, n int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		o, err := assign.GetOverview(ctx, c)
		if err != nil {
			return err
		}
		open := 0
		for _, k := range o.Kinds {
			open += k.Waiting + k.Delayed + k.Running
		}
		if open == n {
			return nil
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return &waitError{"tasks on the books", open, n, err}
		}
	}
}
