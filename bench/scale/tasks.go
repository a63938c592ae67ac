//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	first, err := s.host(schedules("first"))
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, recovered, 0, 1); err != nil {
		return err
	}
	nc, err := nats.Connect("nats://" + s.addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	c, err := assign.NewClient(nc, assign.ClientConfig{
		Namespace: "scale", StreamAutoCreate: true,
		Storage: jetstream.FileStorage,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	b := backlog{r, s, c, n}
	if err := b.fill(ctx, first); err != nil {
		return err
	}
	second, err := b.takeOver(ctx, first)
	if err != nil {
		return err
	}
	return b.work(ctx, second)
}

func schedules(name string) hostConfig {
	return hostConfig{Name: name, Members: 1, Scheduler: true, TTL: memberTTL}
}

// backlog is N open tasks.
type backlog struct {
	r *run
	s *stage
	c *assign.Client
	n int
}

func (b backlog) each(v float64) float64 { return v / float64(b.n) }

// fill submits them to a scheduler for which nobody works.
func (b backlog) fill(ctx context.Context, scheduler *proc.Child) error {
	bare, err := scheduler.Memory(ctx)
	if err != nil {
		return err
	}
	from := time.Now()
	if err := submit(ctx, b.c, b.n); err != nil {
		return err
	}
	took := time.Since(from).Seconds()
	if err := until(ctx, b.c, "open tasks", b.n, open); err != nil {
		return err
	}
	var stored uint64
	if err := b.s.server.Call(ctx, "stored", nil, &stored); err != nil {
		return err
	}
	memory, err := scheduler.Memory(ctx)
	if err != nil {
		return err
	}
	return b.r.add("tasks", b.n,
		figure{"submitted/s", float64(b.n) / took},
		figure{"stored-bytes/task", b.each(float64(stored))},
		figure{"bytes/task", b.each(float64(memory.Heap) - float64(bare.Heap))})
}

// takeOver stops the scheduler, and the next one reads all tasks. Busy processes are counted from
// the stop on.
func (b backlog) takeOver(ctx context.Context, first *proc.Child) (second *proc.Child, err error) {
	if second, err = b.s.host(schedules("second")); err != nil {
		return nil, err
	}
	if err := pause(ctx, time.Second); err != nil {
		return nil, err
	}
	var x span
	if x.from, err = b.s.read(ctx); err != nil {
		return nil, err
	}
	stopped := proc.Now()
	if err := first.Call(ctx, "stop", nil, nil); err != nil {
		return nil, err
	}
	ready, err := b.s.await(ctx, recovered, stopped, 1)
	if err != nil {
		return nil, err
	}
	if x.to, err = b.s.read(ctx); err != nil {
		return nil, err
	}
	took, err := strconv.ParseInt(ready[0].Of, 10, 64)
	if err != nil {
		return nil, err
	}
	return second, b.r.add("tasks", b.n,
		figure{"ready-ms", ms(took)},
		figure{"ready-cpu-scheduler-%", x.cpu(second)},
		figure{"ready-collector-scheduler-%", x.collector(second)},
		figure{"ready-cpu-server-%", x.cpu(b.s.server)})
}

// work lets three workers run them, from when all three are there, and reports which processes are
// busy.
func (b backlog) work(ctx context.Context, scheduler *proc.Child) error {
	const all = 3
	if err := assign.PauseKind(ctx, b.c, scheduled.Name(), "until the workers are there"); err != nil {
		return err
	}
	workers, err := b.s.host(hostConfig{Name: "worker", Members: all, WorkerOnly: true, Slots: 512, TTL: memberTTL})
	if err != nil {
		return err
	}
	if err := until(ctx, b.c, "workers", all, func(o assign.Overview) int { return len(o.Workers) }); err != nil {
		return err
	}
	var x span
	if x.from, err = b.s.read(ctx); err != nil {
		return err
	}
	profiled, err := b.profile(ctx, map[string]*proc.Child{
		"server": b.s.server, "scheduler": scheduler, "workers": workers,
	})
	if err != nil {
		return err
	}
	from := time.Now()
	if err := assign.ResumeKind(ctx, b.c, scheduled.Name()); err != nil {
		return err
	}
	if err := until(ctx, b.c, "open tasks", 0, open); err != nil {
		return err
	}
	took := time.Since(from).Seconds()
	if x.to, err = b.s.read(ctx); err != nil {
		return err
	}
	if err := profiled(); err != nil {
		return err
	}
	return b.r.add("tasks", b.n,
		figure{"run/s", float64(b.n) / took},
		figure{"run-messages/task", b.each(x.messages())},
		figure{"run-cpu-scheduler-%", x.cpu(scheduler)},
		figure{"run-collector-scheduler-%", x.collector(scheduler)},
		figure{"run-cpu-server-%", x.cpu(b.s.server)},
		figure{"run-collector-server-%", x.collector(b.s.server)},
		figure{"run-cpu-workers-%", x.cpu(workers)},
		figure{"run-cpu-submitter-%", x.cpu(nil)})
}

// profile begins a profile of each process, if there is a folder for them.
func (b backlog) profile(ctx context.Context, of map[string]*proc.Child) (end func() error, err error) {
	if b.r.profiles == "" {
		return func() error { return nil }, nil
	}
	for name, c := range of {
		if err := c.Profile(ctx, filepath.Join(b.r.profiles, fmt.Sprint(name, "-", b.n, ".prof"))); err != nil {
			return nil, err
		}
	}
	return func() error {
		var faults []error
		for _, c := range of {
			faults = append(faults, c.Profiled(ctx))
		}
		return errors.Join(faults...)
	}, nil
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

// open is how many tasks have not ended.
func open(o assign.Overview) (n int) {
	for _, k := range o.Kinds {
		n += k.Waiting + k.Delayed + k.Running
	}
	return n
}

// until waits until the scheduler's overview shows so many.
func until(ctx context.Context, c *assign.Client, what string, n int, count func(assign.Overview) int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		o, err := assign.GetOverview(ctx, c)
		if err != nil {
			return err
		}
		shown := count(o)
		if shown == n {
			return nil
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return &waitError{what, shown, n, err}
		}
	}
}
