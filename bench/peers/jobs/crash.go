package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/bench/peers/elect"
)

// crash kills the leader of a role again and again, in several lanes at once: each is one role of
// two processes.
func crash(ctx context.Context, r *Run, p elect.Peer) error {
	for _, ttl := range ttls(p) {
		if err := crashAt(ctx, r, p, ttl); err != nil {
			return err
		}
	}
	return nil
}

func crashAt(ctx context.Context, r *Run, p elect.Peer, ttl time.Duration) error {
	lanes, rounds := pick(r, 2, 4), pick(r, 2, 6)
	g, err := newGroup(ctx, p, ttl, false)
	if err != nil {
		return err
	}
	defer g.close()
	groups := make([]*group, lanes) // over the one store
	for i := range groups {
		groups[i] = &group{
			ledger: newLedger(), peer: p, ttl: ttl, store: g.store, members: map[string]*member{},
			started: 1000 * (i + 1),
		}
		defer func() {
			for _, x := range groups[i].members {
				groups[i].kill(x)
			}
		}()
	}
	var all errgroup.Group
	for i, lane := range groups {
		all.Go(func() error { return crashLane(ctx, r, lane, i, rounds) })
	}
	return all.Wait()
}

func crashLane(ctx context.Context, r *Run, g *group, n, rounds int) error {
	role, limit := elect.RoleName(n), 6*g.ttl
	enter := func() error {
		x, err := g.join(manner{direct: true})
		if err != nil {
			return err
		}
		return x.stand(ctx, n, n+1)
	}
	for range 2 {
		if err := enter(); err != nil {
			return err
		}
	}
	for range rounds {
		x, who, err := g.leader(ctx, role)
		if err != nil {
			return fmt.Errorf("lane %d: %w", n, err)
		}
		// The phase of its heartbeat; and the other one is in line by then.
		if err := pause(ctx, g.settled()+g.ttl/2+rand.N(g.ttl/2)); err != nil {
			return err
		}
		killed := g.kill(x)
		m, err := g.successor(ctx, role, who, killed, limit)
		row := g.row("crash", 1, "failover-ms", ms(m.at-killed))
		if late := (*overdueError)(nil); errors.As(err, &late) {
			row.Value, row.Note = float64(limit/time.Millisecond), within(limit)
		} else if err != nil {
			return err
		}
		r.add(row)
		if err := enter(); err != nil {
			return err
		}
	}
	return nil
}
