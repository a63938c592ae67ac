package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/elect"
)

// mass kills the leader of many roles.
func mass(ctx context.Context, r *Run, p elect.Peer, synced bool) error {
	sizes := pick(r, []int{100}, []int{1000, 10_000})
	if synced {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		for range r.rounds {
			err := massOf(ctx, r, p, n, synced)
			if late := (*overdueError)(nil); errors.As(err, &late) {
				r.add(figures.Row{
					Job: named("mass", synced), Peer: p.Name, N: n, Figure: "overdue-s", Value: late.limit.Seconds(),
					Note: late.Error(),
				})
				return nil // larger ones take longer
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func massOf(ctx context.Context, r *Run, p elect.Peer, n int, synced bool) error {
	limit := pick(r, 40*time.Second, time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, 3*limit, &overdueError{what: "to stand", limit: 3 * limit, of: n})
	defer cancel()
	g, err := newGroup(ctx, p, TTL, synced)
	if err != nil {
		return err
	}
	defer g.close()
	began := func(after int64, not string) func(moment) bool {
		led := map[string]bool{}
		return func(m moment) bool {
			first := m.what == elect.Began && m.who != not && m.at > after && !led[m.of]
			led[m.of] = led[m.of] || first
			return first
		}
	}
	var all [2]*member
	for i := range all {
		if all[i], err = g.join(ctx, manner{direct: true}); err != nil {
			return err
		}
		if err := all[i].stand(ctx, 0, n); err != nil {
			return err
		}
		if i == 0 {
			if _, err := g.await(ctx, "roles are led", limit, n, began(0, "")); err != nil {
				return err
			}
		}
	}
	if err := pause(ctx, g.settled()+TTL); err != nil {
		return err
	}
	killed := g.kill(all[0])
	led, err := g.await(ctx, "roles are led again", limit, n, began(killed, instance(all[0].name, 0)))
	if err != nil {
		return err
	}
	lo, hi := led[0].at, led[0].at
	for _, m := range led {
		lo, hi = min(lo, m.at), max(hi, m.at)
	}
	r.add(g.row("mass", n, "first-ms", ms(lo-killed)))
	r.add(g.row("mass", n, "last-ms", ms(hi-killed)))
	r.add(g.row("mass", n, "spread-ms", ms(hi-lo)))
	if dead, ok := g.first(func(m moment) bool { return m.what == elect.Dead && m.at > killed }); ok {
		r.add(g.row("mass", n, "from-death-ms", ms(hi-dead.at)))
	}
	return nil
}
