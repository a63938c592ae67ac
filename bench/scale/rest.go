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

// rest is how long traffic at rest is counted, and from when on. It is a multiple of all periods
// that there are: a process that has nothing to do beats once in a TTL (a thousand workers once in
// 20 s), and the members of one process all do so at about the same time. A window of one period
// and a fifth would hold one beat of each, or two, as it falls.
//
// It begins half a period after one in which members have rested, so that neither end is where they
// beat: they began together.
type rest struct{ after, window time.Duration }

var (
	resting   = rest{2*memberTTL + memberTTL/2, 6 * memberTTL} // and 2 s is a part of that too
	patiently = rest{patientTTL + patientTTL/2, 2 * patientTTL}
)

// atRest measures the traffic of a stage where nothing happens, and what the processes cost: of all
// hosts together.
func (r *run) atRest(ctx context.Context, axis string, n int, at rest, s *stage,
	hosts ...*proc.Child,
) (x span, err error) {
	if err := pause(ctx, r.full(at.after)); err != nil {
		return x, err
	}
	if x.from, err = s.read(ctx); err != nil {
		return x, err
	}
	if err := pause(ctx, r.full(at.window)); err != nil {
		return x, err
	}
	if x.to, err = s.read(ctx); err != nil {
		return x, err
	}
	from, to := x.from.said, x.to.said
	return x, r.add(axis, n,
		figure{"messages-in/s", x.per(from.In, to.In)},
		figure{"messages-out/s", x.per(from.Out, to.Out)},
		figure{"writes/s", x.per(from.Writes, to.Writes)},
		figure{"cpu-members-%", x.cpu(hosts...)},
		figure{"cpu-server-%", x.cpu(s.server)},
	)
}

// held measures the memory of hosts above what an empty process holds, each of so many parts.
func (r *run) held(ctx context.Context, axis string, n int, s *stage, what string, parts int,
	hosts ...*proc.Child,
) error {
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
	return r.add(axis, n,
		figure{"bytes/" + what, float64(sum.Heap) / float64(parts)},
		figure{"goroutines/" + what, float64(sum.Goroutines) / float64(parts)})
}
