//go:build linux

package main

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/election"
)

const (
	memberTTL = 10 * time.Second
	// patientTTL is for so many candidates that what all of them are told of each other is more
	// than the machine can do.
	patientTTL = time.Minute
)

// members measures N candidates for one role.
func members(ctx context.Context, r *run) error {
	if err := r.leaders("members", 1, memberTTL); err != nil {
		return err
	}
	return r.grow(ctx, "members", []int{3, 10}, []int{3, 10, 30, 100, 300, 500}, func(ctx context.Context, n int) error {
		return r.membersAt(ctx, "members", n, memberTTL, resting)
	})
}

// patient measures the same where leases last longer, and members that have nothing to do beat more
// rarely.
func patient(ctx context.Context, r *run) error {
	if err := r.leaders("patient", 1, patientTTL); err != nil {
		return err
	}
	return r.grow(ctx, "patient", []int{3}, []int{100, 300, 1000}, func(ctx context.Context, n int) error {
		return r.membersAt(ctx, "patient", n, patientTTL, patiently)
	})
}

// membersAt measures n candidates. The leader is a process of its own, so that it can be killed.
func (r *run) membersAt(ctx context.Context, axis string, n int, ttl time.Duration, at rest) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.bucket(ctx, 10*ttl); err != nil {
		return err
	}
	leader, err := s.host(hostConfig{Name: "leader", Members: 1, Roles: 1, TTL: ttl})
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, began, 0, 1); err != nil {
		return err
	}
	others, err := r.join(ctx, axis, n, s, hostConfig{Name: "member", Members: n - 1, See: 1, Roles: 1, TTL: ttl})
	if err != nil {
		return err
	}
	if _, err := r.atRest(ctx, axis, n, at, s, leader, others); err != nil {
		return err
	}
	if err := r.held(ctx, axis, n, s, "member", n-1, others); err != nil {
		return err
	}
	// A crash: how many write in order to take over, and how soon one leads.
	var before, after traffic
	crashed := leader.Kill()
	if err := s.server.Call(ctx, "traffic", nil, &before); err != nil {
		return err
	}
	next, err := s.await(ctx, began, crashed, 1)
	if err != nil {
		return err
	}
	if err := pause(ctx, time.Second); err != nil { // one comes too late
		return err
	}
	if err := s.server.Call(ctx, "traffic", nil, &after); err != nil {
		return err
	}
	return r.add(axis, n,
		figure{"failover-ms", ms(next[0].At - crashed)},
		figure{"failover-writes", float64(after.Seizing - before.Seizing)})
}

// workers measures N members that contend for nothing, one leader that hands out tasks, and one
// that has nothing to do with them: what it receives and uses says what workers cost others.
func workers(ctx context.Context, r *run) error {
	if err := r.leaders("workers", 2, memberTTL); err != nil {
		return err
	}
	return r.grow(ctx, "workers", []int{3, 10}, []int{3, 10, 30, 100, 300, 1000}, r.workersAt)
}

func (r *run) workersAt(ctx context.Context, n int) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	leader, err := s.host(hostConfig{Name: "leader", Members: 1, Scheduler: true, TTL: memberTTL})
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, recovered, 0, 1); err != nil {
		return err
	}
	bystander, err := s.host(hostConfig{Name: "bystander", Members: 1, Roles: 1, TTL: memberTTL})
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, began, 0, 1); err != nil {
		return err
	}
	all, err := r.join(ctx, "workers", n, s, hostConfig{
		Name: "worker", Members: n, WorkerOnly: true, Slots: 4,
		TTL: memberTTL,
	})
	if err != nil {
		return err
	}
	x, err := r.atRest(ctx, "workers", n, resting, s, leader, all)
	if err != nil {
		return err
	}
	if err := r.add("workers", n,
		figure{"bystander-in/s", x.heard(bystander)}, figure{"cpu-bystander-%", x.cpu(bystander)}); err != nil {
		return err
	}
	return r.held(ctx, "workers", n, s, "member", n, all)
}

// leaders notes how often so many leaders beat.
func (r *run) leaders(axis string, n int, ttl time.Duration) error {
	s, err := election.NewSession(hostConfig{TTL: ttl}.session("", nil))
	if err != nil {
		return err
	}
	return r.sheet.Add(figures.Row{
		Job: figures.About, Mode: axis, Figure: "leader-beats/s", Value: float64(n) / s.Config().HeartbeatInterval.Seconds(),
	})
}

// join starts a process of members and measures how long it takes until their sessions are open and
// each of them sees whom it is to see, and what keeps whom busy meanwhile.
func (r *run) join(ctx context.Context, axis string, n int, s *stage, c hostConfig) (h *proc.Child, err error) {
	var x span
	if x.from, err = s.read(ctx); err != nil {
		return nil, err
	}
	from := proc.Now()
	if h, err = s.host(c); err != nil {
		return nil, err
	}
	took := proc.Now() - from
	if x.to, err = s.read(ctx); err != nil {
		return nil, err
	}
	return h, r.add(axis, n,
		figure{"joined-ms", ms(took)},
		figure{"joined-messages", x.messages()},
		figure{"joined-cpu-members-%", x.cpu(h)},
		figure{"joined-collector-members-%", x.collector(h)},
		figure{"joined-cpu-server-%", x.cpu(s.server)})
}

func ms(span int64) float64 { return float64(span) / float64(time.Millisecond) }
