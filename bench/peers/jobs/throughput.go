package jobs

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
)

const payload = "0123456789abcdef"

// throughput runs as many no-op tasks as it can, tuned. First each task is submitted by a request
// of its own, 256 at once; then, where the peer has that, many with one call. Each time with a new
// store. Then the same once more on three servers, each of which has all, where the peer can.
func throughput(ctx context.Context, r *Run, p queue.Peer) error {
	many, few := pick(r, 1000, 100_000), pick(r, 300, 20_000)
	for _, s := range []struct {
		mode     string
		synced   bool
		replicas int
		n        int
	}{{mode(false), false, 0, many}, {mode(true), true, 0, few}, {replicated, true, 3, few}} {
		if s.replicas > 0 && !p.Replicated {
			continue
		}
		row := figures.Row{Job: "throughput", Peer: p.Name, Mode: s.mode, N: s.n, Figure: "tasks/s"}
		cfg := queue.Config{Slots: 512, Tuned: true, Replicas: s.replicas}
		for _, batch := range []bool{false, true} {
			if err := throughputOf(ctx, r, p, cfg, s.synced, batch, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func throughputOf(ctx context.Context, r *Run, p queue.Peer, cfg queue.Config, synced, batch bool,
	row figures.Row,
) error {
	c, err := newCrew(ctx, p, synced, cfg)
	if err != nil {
		return err
	}
	defer c.close()
	many, ok := c.client.(queue.Batcher)
	if batch && !ok {
		return nil
	}
	if err := c.hire(3, queue.Nothing); err != nil {
		return err
	}
	limit := pick(r, time.Minute, 5*time.Minute)
	const first = 64 // everybody has been at work before the clock runs
	if err := queue.SubmitAll(ctx, c.client, payload, first, 16); err != nil {
		return err
	}
	if err := c.completed(ctx, first, limit); err != nil {
		return err
	}
	n := row.N
	if batch {
		row.Figure = "tasks/s-batch"
	}
	cost, err := c.meter(ctx, r.Profiles, strings.ReplaceAll(row.Mode+" "+path.Base(row.Figure), " ", "-"))
	if err != nil {
		return err
	}
	began := time.Now()
	if batch {
		err = many.SubmitMany(ctx, payload, n)
	} else {
		err = queue.SubmitAll(ctx, c.client, payload, n, 256)
	}
	if err != nil {
		return err
	}
	submitted := time.Since(began)
	err = c.completed(ctx, first+n, limit)
	took := time.Since(began)
	if late := (*overdueError)(nil); errors.As(err, &late) {
		n, row.Note = late.n-first, late.Error()
	} else if err != nil {
		return err
	}
	row.Value = float64(n) / took.Seconds()
	r.add(row)
	used, err := cost.end(ctx)
	if err != nil {
		return err
	}
	figure := row.Figure
	row.Figure, row.Value = figure+"-submitted", float64(row.N)/submitted.Seconds()
	r.add(row)
	for _, u := range used {
		row.Figure, row.Value = figure+"-cpu-us-"+u.who, float64(u.time.Microseconds())/float64(n)
		r.add(row)
	}
	return nil
}
