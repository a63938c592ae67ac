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
		s := series{job: "crash", ttl: ttl, lanes: pick(r, 2, 4), rounds: pick(r, 2, 6)}
		if err := s.run(ctx, r, p); err != nil {
			return err
		}
	}
	return nil
}

// series is crashes of a kind: rounds in each of several lanes.
type series struct {
	job    string
	ttl    time.Duration
	guard  bool // each process has one
	lanes  int
	rounds int
}

func (s series) run(ctx context.Context, r *Run, p elect.Peer) error {
	g, err := newGroup(ctx, p, s.ttl, false)
	if err != nil {
		return err
	}
	defer g.close()
	groups := make([]*group, s.lanes) // over the one store
	for i := range groups {
		groups[i] = &group{
			ledger: newLedger(), peer: p, ttl: s.ttl, store: g.store, members: map[string]*member{},
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
		all.Go(func() error { return s.lane(ctx, r, lane, i) })
	}
	return all.Wait()
}

func (s series) lane(ctx context.Context, r *Run, g *group, n int) error {
	role, limit := elect.RoleName(n), 6*g.ttl
	enter := func() error {
		x, err := g.join(ctx, manner{direct: true, guard: s.guard})
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
	for range s.rounds {
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
		row := g.row(s.job, 1, "failover-ms", ms(m.at-killed))
		if late := (*overdueError)(nil); errors.As(err, &late) {
			row.Value, row.Note = float64(limit/time.Millisecond), within(limit)
		} else if err != nil {
			return err
		}
		if s.guard {
			row.Mode += ", guard"
		}
		r.add(row)
		if err := enter(); err != nil {
			return err
		}
	}
	return nil
}
