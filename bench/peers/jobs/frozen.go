package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/proc"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// frozen holds every byte between the leader and the store for three TTLs, and lets them go then.
func frozen(ctx context.Context, r *Run, p elect.Peer) error {
	for _, ttl := range ttls(p) {
		if err := frozenAt(ctx, r, p, ttl); err != nil {
			return err
		}
	}
	return nil
}

func frozenAt(ctx context.Context, r *Run, p elect.Peer, ttl time.Duration) error {
	g, err := newGroup(ctx, p, ttl, false)
	if err != nil {
		return err
	}
	defer g.close()
	for range 2 {
		x, err := g.join(ctx, manner{watch: true})
		if err != nil {
			return err
		}
		if err := x.stand(ctx, 0, 1); err != nil {
			return err
		}
	}
	role := elect.RoleName(0)
	for range r.rounds {
		x, who, err := g.leader(ctx, role)
		if err != nil {
			return err
		}
		if err := pause(ctx, g.settled()+ttl); err != nil {
			return err
		}
		x.link.Hold(natsrun.Both)
		held := proc.Now()
		m, err := g.successor(ctx, role, who, held, 6*ttl)
		if late := (*overdueError)(nil); errors.As(err, &late) {
			g.overdue(r, "frozen", 1, late)
			return nil
		} else if err != nil {
			return err
		}
		if err := pause(ctx, 3*ttl); err != nil { // from the takeover on
			return err
		}
		x.link.Heal()
		if err := pause(ctx, 2*ttl+time.Second); err != nil {
			return err
		}
		seen := proc.Now()
		r.add(g.row("frozen", 1, "takeover-ms", ms(m.at-held)))
		for _, end := range []struct{ figure, what string }{{"both-work-ms", elect.Told}, {"both-believe-ms", elect.Doubts}} {
			row := g.row("frozen", 1, end.figure, 0)
			over, ok := g.first(func(m moment) bool { return m.what == end.what && m.of == role && m.who == who && m.at > held })
			if !ok {
				over.at, row.Note = seen, "until it was no longer watched"
			}
			row.Value = ms(over.at - m.at)
			r.add(row)
		}
		if _, again := g.first(func(n moment) bool { return n.what == elect.Told && n.who == m.who && n.at > m.at }); again {
			row := g.row("frozen", 1, "successor-disturbed", 1)
			row.Note = "it lost the role again"
			r.add(row)
		}
	}
	return nil
}
