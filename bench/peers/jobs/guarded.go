package jobs

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/elect"
)

// long is a TTL with which few false alarms are to be expected.
const long = 10 * time.Second

// guarded is crash at a long TTL, and of this library with a guard as well.
func guarded(ctx context.Context, r *Run, p elect.Peer) error {
	s := series{job: "guarded", ttl: long, lanes: pick(r, 2, 8), rounds: pick(r, 2, 6)}
	if p.Guard || p.Locks {
		under := s
		under.guard, under.rounds = true, pick(r, 2, 12)
		if err := under.run(ctx, r, p); err != nil {
			return err
		}
	}
	if p.Locks { // without it nothing leads
		return nil
	}
	return s.run(ctx, r, p)
}
