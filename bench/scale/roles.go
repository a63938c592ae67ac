//go:build linux

package main

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/bench/proc"
)

const roleTTL = 2 * time.Second

// roles measures N roles of three processes, of which one leads them all.
func roles(ctx context.Context, r *run) error {
	return r.grow(ctx, "roles", []int{10, 100}, []int{1, 10, 100, 1000, 3000, 10_000, 30_000}, r.rolesAt)
}

func (r *run) rolesAt(ctx context.Context, n int) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	from := proc.Now()
	leader, err := s.host(hostConfig{Name: "leader", Members: 1, Roles: n, TTL: roleTTL})
	if err != nil {
		return err
	}
	if _, err := s.await(ctx, began, 0, n); err != nil {
		return err
	}
	if err := r.add("roles", n, figure{"cold-start-ms", ms(proc.Now() - from)}); err != nil {
		return err
	}
	var followers []*proc.Child
	for _, name := range []string{"second", "third"} {
		h, err := s.host(hostConfig{Name: name, Members: 1, Roles: n, TTL: roleTTL})
		if err != nil {
			return err
		}
		followers = append(followers, h)
	}
	if _, err := r.atRest(ctx, "roles", n, resting, s, leader, followers[0], followers[1]); err != nil {
		return err
	}
	if err := r.held(ctx, "roles", n, s, "followed-role", 2*n, followers...); err != nil {
		return err
	}
	if err := r.held(ctx, "roles", n, s, "led-role", n, leader); err != nil {
		return err
	}
	crashed := leader.Kill()
	next, err := s.await(ctx, began, crashed, n)
	if err != nil {
		return err
	}
	dead, err := s.await(ctx, killed, crashed, 1)
	if err != nil {
		return err
	}
	lo, hi := next[0].At, next[0].At
	for _, e := range next {
		lo, hi = min(lo, e.At), max(hi, e.At)
	}
	return r.add("roles", n,
		figure{"failover-first-ms", ms(lo - crashed)},
		figure{"failover-spread-ms", ms(hi - lo)},
		figure{"failover-from-death-ms", ms(hi - dead[0].At)})
}
