package jobs

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
	"github.com/rolemanager/rolemanager/bench/proc"
)

// latency submits one task after the other to workers that have nothing else to do, as the peer
// comes and tuned.
func latency(ctx context.Context, r *Run, p queue.Peer) error {
	for _, tuned := range []bool{false, true} {
		if err := latencyOf(ctx, r, p, tuned); err != nil {
			return err
		}
	}
	return nil
}

func latencyOf(ctx context.Context, r *Run, p queue.Peer, tuned bool) error {
	c, err := newCrew(ctx, p, false, queue.Config{Slots: 64, Tuned: tuned})
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.hire(2, queue.Note); err != nil {
		return err
	}
	row := figures.Row{Job: "latency", Peer: p.Name, Mode: "defaults", N: 1, Figure: "begins-ms"}
	if tuned {
		row.Mode = "tuned"
	}
	if err := asks(ctx, r, c, row); err != nil {
		return err
	}
	end := time.Now().Add(pick(r, 15*time.Second, time.Minute))
	for i := range pick(r, 20, 200) {
		if time.Now().After(end) {
			break
		}
		submitted := proc.Now()
		id, err := c.client.Submit(ctx, payload)
		if err != nil {
			return err
		}
		m, err := c.runs(ctx, id, submitted, 30*time.Second)
		if err != nil {
			return err
		}
		row.Value = ms(m.at - submitted)
		if i > 0 { // the first finds nobody warm
			r.add(row)
		}
		if err := lull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// asks measures a request of the same client when nobody has anything to do: what waking the
// processes on its way takes.
func asks(ctx context.Context, r *Run, c *crew, row figures.Row) error {
	row.Figure = "asks-ms"
	for i := range pick(r, 5, 50) {
		if err := lull(ctx); err != nil {
			return err
		}
		began := time.Now()
		if _, err := c.client.Completed(ctx); err != nil {
			return err
		}
		row.Value = float64(time.Since(began)) / 1e6
		if i > 0 { // the first finds nobody warm
			r.add(row)
		}
	}
	return nil
}

// lull is a time without work, until any phase of a process that polls.
func lull(ctx context.Context) error {
	return pause(ctx, 20*time.Millisecond+rand.N(100*time.Millisecond))
}
