package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// reruns is what came of the tasks that a killed worker ran.
type reruns struct {
	Worker string `json:"worker"`
	// Ran counts the tasks of this run that it had when it was killed, as the scheduler knows.
	Ran int `json:"ran"`
	// Rerun says which instances run them again, or have: how many each.
	Rerun map[string]int `json:"rerun"`
	// GapMS counts from the moment at which it was killed to the one at which the last of them was seen to run again.
	GapMS float64 `json:"gap_ms"`
}

// lookPace is how often the scheduler is asked what has become of a task.
const lookPace = 10 * time.Millisecond

// errNotRerun says that a killed worker's task still counts as its own.
var errNotRerun = errors.New("a task of the killed worker is not run again after all this time")

// killWorker kills the worker while it runs tasks, and waits until each of them runs elsewhere.
func (c *cluster) killWorker(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second+5*c.options.ttl, errNotRerun)
	defer cancel()
	for c.worker.running.Load() == 0 && c.job.progress().done() < len(c.job.files) {
		if err := pause(ctx); err != nil {
			return err
		}
	}
	c.screen.moment(c.table())
	from := c.history.now()
	if err := c.worker.kill(); err != nil {
		return err
	}
	lost, err := c.job.runBy(ctx, c.worker.id)
	if err != nil {
		return err
	}
	c.screen.say(yellow, "%s is killed: SIGKILL to its process, which runs %d tasks", c.worker.id, len(lost))

	r := &reruns{Worker: c.worker.id, Ran: len(lost), Rerun: map[string]int{}}
	for _, id := range lost {
		by, err := c.job.runElsewhere(ctx, id, c.worker.id)
		if err != nil {
			return err
		}
		if by != c.worker.id {
			r.Rerun[by]++
		}
	}
	gap := c.history.now() - from
	r.GapMS = float64(gap.Microseconds()) / 1000
	c.mu.Lock()
	c.reruns = r
	c.mu.Unlock()
	c.screen.say(green, "what %s ran is run again, by %s, %s after it was killed", r.Worker, r.by(), gap.Round(10*time.Microsecond))
	return nil
}

// by says who runs how many.
func (r *reruns) by() string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(r.Rerun)) {
		all = append(all, fmt.Sprintf("%s (%d)", id, r.Rerun[id]))
	}
	if all == nil {
		return "nobody"
	}
	return strings.Join(all, ", ")
}

// runBy lists the tasks of this job that a worker runs, as soon as there is a scheduler to tell it.
func (j *job) runBy(ctx context.Context, worker string) (ids []string, err error) {
	for {
		page, err := assign.List(ctx, j.client, assign.ListOptions{States: []assign.State{assign.StateRunning}, Prefix: j.run, Limit: 500})
		if err == nil {
			for _, t := range page.Tasks {
				if t.Worker == worker {
					ids = append(ids, t.ID)
				}
			}
			return ids, nil
		}
		if !errors.Is(err, assign.ErrNoScheduler) {
			return nil, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// runElsewhere waits until somebody else runs a task than that worker, and says who does or did. If the worker had ended it
// before, it is the worker.
func (j *job) runElsewhere(ctx context.Context, id, worker string) (by string, err error) {
	for {
		status, err := assign.Get(ctx, j.client, id)
		switch {
		case errors.Is(err, assign.ErrNoScheduler):
		case err != nil:
			return "", err
		case status.State.Terminal(), status.State == assign.StateRunning && status.Worker != worker:
			return status.Worker, nil
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
}

// pause waits for lookPace, or returns why it need not.
func pause(ctx context.Context) error {
	select {
	case <-time.After(lookPace):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
