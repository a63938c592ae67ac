//go:build linux

package main

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/election"
)

const memberTTL = 10 * time.Second

// members measures N candidates for one role. The leader is a process of its own, so that it can be killed.
func members(ctx context.Context, r *run) error {
	if err := r.leaders("members", 1); err != nil {
		return err
	}
	return r.grow(ctx, "members", []int{3, 10}, []int{3, 10, 30, 100, 300, 1000}, r.membersAt)
}

func (r *run) membersAt(ctx context.Context, n int) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	leader, err := s.host(hostConfig{Name: "leader", Members: 1, Roles: 1, TTL: memberTTL})
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, began, 0, 1); err != nil {
		return err
	}
	rest, err := r.join(ctx, "members", n, s, hostConfig{Name: "member", Members: n - 1, See: 1, Roles: 1, TTL: memberTTL})
	if err != nil {
		return err
	}
	if _, err := r.atRest(ctx, "members", n, s, leader, rest); err != nil {
		return err
	}
	if err := r.held(ctx, "members", n, s, "member", n-1, rest); err != nil {
		return err
	}
	// A crash: how many write in order to take over, and how soon one leads.
	var before, after traffic
	killed := leader.Kill()
	if err := s.server.Call(ctx, "traffic", nil, &before); err != nil {
		return err
	}
	next, err := s.await(ctx, began, killed, 1)
	if err != nil {
		return err
	}
	if err := pause(ctx, time.Second); err != nil { // who comes too late
		return err
	}
	if err := s.server.Call(ctx, "traffic", nil, &after); err != nil {
		return err
	}
	return r.add("members", n,
		figure{"failover-ms", ms(next[0].At - killed)},
		figure{"failover-writes", float64(after.Seizing - before.Seizing)})
}

// workers measures N members that contend for nothing, one leader that hands out tasks, and one that has nothing to do with
// them: what it receives and uses says what workers cost others.
func workers(ctx context.Context, r *run) error {
	if err := r.leaders("workers", 2); err != nil {
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
	rest, err := r.join(ctx, "workers", n, s, hostConfig{Name: "worker", Members: n, WorkerOnly: true, Slots: 4, TTL: memberTTL})
	if err != nil {
		return err
	}
	x, err := r.atRest(ctx, "workers", n, s, leader, rest)
	if err != nil {
		return err
	}
	if err := r.add("workers", n,
		figure{"bystander-in/s", x.heard(bystander)}, figure{"cpu-bystander-%", x.cpu(bystander)}); err != nil {
		return err
	}
	return r.held(ctx, "workers", n, s, "member", n, rest)
}

// leaders notes how often so many leaders beat.
func (r *run) leaders(axis string, n int) error {
	s, err := election.NewSession(hostConfig{TTL: memberTTL}.session("", nil))
	if err != nil {
		return err
	}
	return r.sheet.Add(figures.Row{
		Job: figures.About, Mode: axis, Figure: "leader-beats/s", Value: float64(n) / s.Config().HeartbeatInterval.Seconds(),
	})
}

// join starts a process of members and measures how long it takes until their sessions are open and each of them sees whom it is
// to see, and what keeps whom busy meanwhile.
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
