package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
)

// herd counts how often many candidates try to take a role that has fallen vacant, above what they do at rest.
func herd(ctx context.Context, r *Run, p elect.Peer) error {
	processes, each := pick(r, 2, 5), pick(r, 10, 20)
	g, err := newGroup(ctx, p, TTL, false)
	if err != nil {
		return err
	}
	defer g.close()
	for range processes {
		x, err := g.join(manner{instances: each, direct: true})
		if err != nil {
			return err
		}
		if err := x.stand(ctx, 0, 1); err != nil {
			return err
		}
	}
	role, limit := elect.RoleName(0), 6*TTL
	row := func(figure string, v float64) {
		r.add(g.row("herd", processes*each, figure, v))
	}
	for range r.rounds {
		x, who, err := g.leader(ctx, role)
		if err != nil {
			return err
		}
		if err := pause(ctx, g.settled()+TTL); err != nil {
			return err
		}
		still, s, err := g.during(ctx, func() error { return pause(ctx, window) })
		if err != nil {
			return err
		}
		began, _ := g.last(func(m moment) bool { return m.what == elect.Began && m.who == who })
		resign := elect.Resign{Instance: who, Role: role}
		vacancy, took, err := g.during(ctx, func() error {
			if err := x.Call(ctx, "resign", resign, nil); err != nil {
				r.Log("herd %s: %s resigns: %v", p.Name, who, err)
			}
			if _, err := g.successor(ctx, role, who, began.at, limit); err != nil {
				return err
			}
			return pause(ctx, 500*time.Millisecond) // the losers' replies
		})
		if late := (*overdueError)(nil); errors.As(err, &late) {
			g.overdue(r, "herd", processes*each, late)
			return nil
		} else if err != nil {
			return err
		}
		above := func(v, rest uint64) float64 { return float64(v) - float64(rest)/s*took }
		row("writes/vacancy", above(vacancy.Roles, still.Roles))
		row("role-writes-at-rest/s", float64(still.Roles)/s)
		row("writes-at-rest/s", float64(still.Writes)/s)
		row("messages-at-rest/s", float64(still.In+still.Out)/s)
		if err := x.Call(ctx, "rejoin", resign, nil); err != nil {
			return err
		}
	}
	return nil
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
