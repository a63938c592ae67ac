package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
)

// herd counts how often many candidates try to take a role that is given up, or whose leader
// crashes, above what they do at rest.
func herd(ctx context.Context, r *Run, p elect.Peer) error {
	processes, each := pick(r, 2, 5), pick(r, 10, 20)
	g, err := newGroup(ctx, p, TTL, false)
	if err != nil {
		return err
	}
	defer g.close()
	enter := func() error {
		x, err := g.join(ctx, manner{instances: each, direct: true})
		if err != nil {
			return err
		}
		return x.stand(ctx, 0, 1)
	}
	for range processes {
		if err := enter(); err != nil {
			return err
		}
	}
	for range r.rounds {
		err := g.herdRound(ctx, r, processes*each, each)
		if late := (*overdueError)(nil); errors.As(err, &late) {
			g.overdue(r, "herd", processes*each, late)
			return nil
		} else if err != nil {
			return err
		}
		if err := enter(); err != nil { // for those that were killed
			return err
		}
	}
	return nil
}

// herdRound lets n candidates rest, lets the leader give up, and kills the process of the next one,
// with so many candidates in it.
func (g *group) herdRound(ctx context.Context, r *Run, n, killed int) error {
	if _, _, err := g.leader(ctx, elect.RoleName(0)); err != nil {
		return err
	}
	if err := pause(ctx, g.settled()+TTL); err != nil {
		return err
	}
	still, s, err := g.during(ctx, func() error { return pause(ctx, window) })
	if err != nil {
		return err
	}
	row := func(figure string, v float64) { r.add(g.row("herd", n, figure, v)) }
	row("role-writes-at-rest/s", float64(still.Roles)/s)
	row("writes-at-rest/s", float64(still.Writes)/s)
	row("messages-at-rest/s", float64(still.In+still.Out)/s)
	above := func(v stores.Traffic, took float64, left int) float64 {
		return float64(v.Roles) - float64(still.Roles)/s*took*float64(left)/float64(n)
	}
	var back func() error
	given, took, err := g.vacancy(ctx, func(x *member, resign elect.Resign) error {
		back = func() error { return x.Call(ctx, "rejoin", resign, nil) }
		if err := x.Call(ctx, "resign", resign, nil); err != nil {
			r.Log("herd %s: %s resigns: %v", g.peer.Name, resign.Instance, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	row("writes/given-up", above(given, took, n))
	if err := back(); err != nil {
		return err
	}
	if err := pause(ctx, g.settled()+TTL); err != nil { // nobody is at anything any more
		return err
	}
	crashed, took, err := g.vacancy(ctx, func(x *member, _ elect.Resign) error {
		g.kill(x)
		return nil
	})
	if err != nil {
		return err
	}
	row("writes/crash", above(crashed, took, n-killed))
	return nil
}

// vacancy is the traffic from when the leader is made to go until another one has begun, and the
// others have had their answers.
func (g *group) vacancy(ctx context.Context, leave func(*member, elect.Resign) error) (stores.Traffic, float64, error) {
	role := elect.RoleName(0)
	x, who, err := g.leader(ctx, role)
	if err != nil {
		return stores.Traffic{}, 0, err
	}
	began, _ := g.last(func(m moment) bool { return m.what == elect.Began && m.who == who })
	return g.during(ctx, func() error {
		if err := leave(x, elect.Resign{Instance: who, Role: role}); err != nil {
			return err
		}
		if _, err := g.successor(ctx, role, who, began.at, 6*TTL); err != nil {
			return err
		}
		return pause(ctx, 500*time.Millisecond)
	})
}

// during is the store's traffic while something is done, and how many seconds that took.
func (g *group) during(ctx context.Context, do func() error) (stores.Traffic, float64, error) {
	before, err := g.store.Traffic(ctx)
	if err != nil {
		return stores.Traffic{}, 0, err
	}
	began := time.Now()
	if err := do(); err != nil {
		return stores.Traffic{}, 0, err
	}
	after, err := g.store.Traffic(ctx)
	return after.Minus(before), time.Since(began).Seconds(), err
}
