package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
)

// late pauses a worker until its task runs elsewhere, and lets it continue and return first, with a
// result that nobody waits for any longer. The peers are impatient here, because this job does not
// measure when they run a task again.
func late(ctx context.Context, r *Run, p queue.Peer) error {
	c, err := newCrew(ctx, p, false, queue.Config{Slots: 4, Impatient: true})
	if err != nil {
		return err
	}
	defer c.close()
	limit := pick(r, 45*time.Second, 200*time.Second)
	if err := c.hire(1, queue.Hold); err != nil {
		return err
	}
	id, err := c.client.Submit(ctx, payload)
	if err != nil {
		return err
	}
	m, err := c.runs(ctx, id, 0, 30*time.Second)
	if err != nil {
		return err
	}
	old := m.who
	if err := c.hire(1, queue.Hold); err != nil {
		return err
	}
	if err := c.workers[old].Pause(); err != nil {
		return err
	}
	row := figures.Row{Job: "late", Peer: p.Name, N: 1}
	again, err := c.await(ctx, "the task begins elsewhere", limit, 1, func(m moment) bool {
		return m.what == queue.Run && m.of == id && m.who != old
	})
	if late := (*overdueError)(nil); errors.As(err, &late) {
		row.Figure, row.Value, row.Note = "overdue-s", limit.Seconds(), late.Error()
		r.add(row)
		return nil
	} else if err != nil {
		return err
	}
	if err := c.workers[old].Resume(); err != nil {
		return err
	}
	if err := c.workers[old].Call(ctx, "finish", "late", nil); err != nil {
		return err
	}
	// It has returned, and whatever it can do about its result it does now. The other one is still
	// at work.
	end := time.Now().Add(5 * time.Second)
	for time.Now().Before(end) {
		done, result, err := c.client.Outcome(ctx, id)
		if err != nil {
			return err
		}
		if done {
			row.Figure, row.Value, row.Note = "late-accepted", 1, "completed with "+result+" while the second attempt ran"
			r.add(row)
			return nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	if err := c.workers[again[0].who].Call(ctx, "finish", "right", nil); err != nil {
		return err
	}
	row.Figure = "late-accepted"
	for end := time.Now().Add(30 * time.Second); ; {
		done, result, err := c.client.Outcome(ctx, id)
		if err != nil {
			return err
		}
		switch {
		case done && result == "right":
			row.Note = "completed with the second attempt's result"
		case done:
			row.Value, row.Note = 1, "completed with "+result
		case time.Now().After(end):
			row.Value, row.Note = -1, "no end is stored, 30s after the second attempt had returned"
		default:
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
			continue
		}
		r.add(row)
		return nil
	}
}
