package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
)

// rerun kills a worker that holds tasks: as the peer comes, and impatient.
func rerun(ctx context.Context, r *Run, p queue.Peer) error {
	for _, impatient := range []bool{false, true} {
		if err := rerunOf(ctx, r, p, impatient); err != nil {
			return err
		}
	}
	return nil
}

func rerunOf(ctx context.Context, r *Run, p queue.Peer, impatient bool) error {
	const tasks = 8
	limit := pick(r, 15*time.Second, 200*time.Second)
	known := p.Rerun > limit && !impatient // by its source it takes longer
	if known {
		limit = pick(r, 5*time.Second, 60*time.Second) // that it does is seen
	}
	for range r.rounds {
		c, err := newCrew(ctx, p, false, queue.Config{Slots: 2 * tasks, Impatient: impatient})
		if err != nil {
			return err
		}
		err = rerunOnce(ctx, r, c, tasks, limit)
		c.close()
		if err != nil || known {
			return err
		}
	}
	return nil
}

func rerunOnce(ctx context.Context, r *Run, c *crew, tasks int, limit time.Duration) error {
	if err := c.hire(2, queue.Hold); err != nil {
		return err
	}
	at := map[string]string{} // worker by task
	held := map[string]int{}
	for range tasks {
		id, err := c.client.Submit(ctx, payload)
		if err != nil {
			return err
		}
		m, err := c.runs(ctx, id, 0, 30*time.Second)
		if err != nil {
			return err
		}
		at[id] = m.who
		held[m.who]++
	}
	// Of the two the one is killed that holds more.
	victim := ""
	for name := range c.workers {
		if victim == "" || held[name] > held[victim] {
			victim = name
		}
	}
	if err := c.hire(1, queue.Hold); err != nil {
		return err
	}
	// leases are renewed in between, at any phase
	if err := pause(ctx, 2*time.Second+rand.N(2*time.Second)); err != nil {
		return err
	}
	killed := c.kill(victim)
	end := time.Now().Add(limit)
	for id, who := range at {
		if who != victim {
			continue
		}
		row := figures.Row{Job: "rerun", Peer: c.peer.Name, Mode: "defaults", N: 1, Figure: "rerun-ms"}
		if c.config.Impatient {
			row.Mode = "impatient"
		}
		m, err := c.runs(ctx, id, killed, max(time.Until(end), time.Millisecond))
		if late := (*overdueError)(nil); errors.As(err, &late) {
			row.Value, row.Note = float64(limit/time.Millisecond), within(limit)
			if c.peer.Rerun > limit && !c.config.Impatient {
				row.Note = fmt.Sprintf("%s; by its source %v", row.Note, c.peer.Rerun)
			}
			r.add(row)
			return nil
		} else if err != nil {
			return err
		}
		row.Value = ms(m.at - killed)
		r.add(row)
	}
	return nil
}
