//go:build linux

package main

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// empty is what a process without members holds, on this machine.
func (s *stage) empty(ctx context.Context) (proc.Memory, error) {
	h, err := proc.Start(hostKind, hostConfig{Addr: s.addr}, nil)
	if err != nil {
		return proc.Memory{}, err
	}
	defer h.Close()
	return h.Memory(ctx)
}

// atRest measures the traffic of a stage where nothing happens, and what the processes cost: of all hosts together.
func (r *run) atRest(ctx context.Context, axis string, n int, s *stage, hosts ...*proc.Child) error {
	window := 12 * time.Second
	if r.quick {
		window = 3 * time.Second
	}
	cpu := func() (of [2]time.Duration, err error) {
		for _, h := range hosts {
			d, err := h.CPU(ctx)
			if err != nil {
				return of, err
			}
			of[0] += d
		}
		of[1], err = s.server.CPU(ctx)
		return of, err
	}
	said := func() (t traffic, err error) {
		err = s.server.Call(ctx, "traffic", nil, &t)
		return t, err
	}
	used, err := cpu()
	if err != nil {
		return err
	}
	before, err := said()
	if err != nil {
		return err
	}
	from := time.Now()
	if err := pause(ctx, window); err != nil {
		return err
	}
	after, err := said()
	if err != nil {
		return err
	}
	seconds := time.Since(from).Seconds()
	usedThen, err := cpu()
	if err != nil {
		return err
	}
	for _, row := range []struct {
		figure string
		v      float64
	}{
		{"messages-in/s", float64(after.In-before.In) / seconds},
		{"messages-out/s", float64(after.Out-before.Out) / seconds},
		{"writes/s", float64(after.Writes-before.Writes) / seconds},
		{"cpu-members-%", (usedThen[0] - used[0]).Seconds() / seconds * 100},
		{"cpu-server-%", (usedThen[1] - used[1]).Seconds() / seconds * 100},
	} {
		if err := r.add(axis, n, row.figure, row.v); err != nil {
			return err
		}
	}
	return nil
}

// held measures the memory of hosts above what an empty process holds, each of so many parts.
func (r *run) held(ctx context.Context, axis string, n int, s *stage, what string, parts int, hosts ...*proc.Child) error {
	bare, err := s.empty(ctx)
	if err != nil {
		return err
	}
	var sum proc.Memory
	for _, h := range hosts {
		m, err := h.Memory(ctx)
		if err != nil {
			return err
		}
		sum.Heap, sum.Goroutines = sum.Heap+m.Heap-bare.Heap, sum.Goroutines+m.Goroutines-bare.Goroutines
	}
	if err := r.add(axis, n, "bytes/"+what, float64(sum.Heap)/float64(parts)); err != nil {
		return err
	}
	return r.add(axis, n, "goroutines/"+what, float64(sum.Goroutines)/float64(parts))
}
