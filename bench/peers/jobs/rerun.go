package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
)

// rerun kills a worker that holds tasks, as the peer comes.
func rerun(ctx context.Context, r *Run, p queue.Peer) error {
	const tasks = 8
	limit := pick(r, 15*time.Second, 200*time.Second)
	if p.Rerun > limit {
		limit = pick(r, 5*time.Second, 60*time.Second) // it is known that it takes longer; that it does is seen
	}
	for range r.rounds {
		c, err := newCrew(ctx, p, false, queue.Config{Slots: 2 * tasks})
		if err != nil {
			return err
		}
		err = rerunOnce(ctx, r, c, tasks, limit)
		c.close()
		if err != nil {
			return err
		}
		if p.Rerun > limit {
			return nil
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
	if err := pause(ctx, 2*time.Second); err != nil { // leases are renewed in between
		return err
	}
	killed := c.kill(victim)
	end := time.Now().Add(limit)
	for id, who := range at {
		if who != victim {
			continue
		}
		row := figures.Row{Job: "rerun", Peer: c.peer.Name, N: held[victim], Figure: "rerun-ms"}
		m, err := c.runs(ctx, id, killed, max(time.Until(end), time.Millisecond))
		if late := (*overdueError)(nil); errors.As(err, &late) {
			row.Value, row.Note = float64(limit/time.Millisecond), within(limit)
			if c.peer.Rerun > limit {
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
