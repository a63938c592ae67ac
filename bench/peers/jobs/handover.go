package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/elect"
)

// handoverDrain is how long the work takes to return: a successor that does not wait for it is
// seen.
const handoverDrain = 500 * time.Millisecond

// handover lets the leader of one role give it up, again and again.
func handover(ctx context.Context, r *Run, p elect.Peer, synced bool) error {
	g, err := newGroup(ctx, p, TTL, synced)
	if err != nil {
		return err
	}
	defer g.close()
	for range 3 {
		x, err := g.join(ctx, manner{drain: handoverDrain, direct: true})
		if err != nil {
			return err
		}
		if err := x.stand(ctx, 0, 1); err != nil {
			return err
		}
	}
	role, limit := elect.RoleName(0), 6*TTL
	if _, _, err := g.leader(ctx, role); err != nil {
		return err
	}
	if err := pause(ctx, g.settled()); err != nil {
		return err
	}
	end := time.Now().Add(pick(r, 15*time.Second, 100*time.Second))
	for range pick(r, 10, 100) {
		if time.Now().After(end) {
			return nil
		}
		x, who, err := g.leader(ctx, role)
		if err != nil {
			return err
		}
		began, _ := g.last(func(m moment) bool { return m.what == elect.Began && m.who == who })
		resign := elect.Resign{Instance: who, Role: role}
		if err := x.Call(ctx, "resign", resign, nil); err != nil {
			r.Log("handover %s: %s resigns: %v", p.Name, who, err)
		}
		m, err := g.successor(ctx, role, who, began.at, limit)
		row := g.row("handover", 1, "gap-ms", 0)
		if late := (*overdueError)(nil); errors.As(err, &late) {
			row.Value, row.Note = float64(limit/time.Millisecond), within(limit)
			r.add(row)
		} else if err != nil {
			return err
		} else {
			ended, err := g.await(ctx, "the end of the work", TTL, 1, func(m moment) bool {
				return m.what == elect.Ended && m.who == who && m.at > began.at
			})
			if err != nil {
				row.Figure, row.Note = "never-told", err.Error()
			} else {
				row.Value = ms(m.at - ended[0].at)
			}
			r.add(row)
		}
		if err := x.Call(ctx, "rejoin", resign, nil); err != nil {
			return err
		}
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
