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

// killedWorker is what came of the tasks of this run that a killed worker ran.
type killedWorker struct {
	Worker string `json:"worker"`
	// Ran counts the tasks that it ran when it was killed: none of them has reported its end.
	Ran int `json:"ran"`
	// RerunBy says who ran them again, and how many each. What is missing was cancelled, or is not kept any more.
	RerunBy map[string]int `json:"rerun_by"`
	// GapMS counts from the moment at which it was killed to the one at which the last of them was seen to run again: until its
	// session is dead, and until somebody has a free slot.
	GapMS float64 `json:"gap_ms"`
}

// pollPace is how often the scheduler is asked what has become of a task.
const pollPace = 10 * time.Millisecond

// killWorker kills the worker when it has just begun a task, and waits until all that it ran runs elsewhere.
func (c *cluster) killWorker(ctx context.Context) error {
	c.screen.moment(c.table())
	if begun, err := c.workerBegins(ctx); !begun {
		return err
	}
	from := c.history.now()
	if err := c.worker.kill(); err != nil || !c.worker.fate.is(killed) {
		return err // or it was gone by itself, which was said
	}
	ran := slices.DeleteFunc(c.worker.running(), func(id string) bool { return !c.job.owns(id) })
	c.screen.say(yellow, "%s is killed: SIGKILL to its process, which runs %s", c.worker.id, number(len(ran), "task"))
	k := killedWorker{Worker: c.worker.id, Ran: len(ran), RerunBy: map[string]int{}}
	c.noteKilled(k)
	for _, id := range ran {
		by, err := c.job.runsAgain(ctx, id, c.worker.id)
		if err != nil {
			return err
		}
		if by == "" {
			continue
		}
		k.RerunBy[by]++
		k.GapMS = float64((c.history.now() - from).Microseconds()) / 1000
		c.noteKilled(k)
	}
	if k.by() != "" {
		c.screen.say(green, "what %s ran is run again, by %s, %v after it was killed", k.Worker, k.by(), milliseconds(k.GapMS))
	}
	return nil
}

// workerBegins waits until the worker begins a task. It does not if it is gone, or if it gets none until another fault is due.
func (c *cluster) workerBegins(ctx context.Context) (bool, error) {
	for next := c.worker.next(); ; {
		late, changed := c.job.has(vanishWhen)
		if late {
			c.screen.say(yellow, "%s begins no task, and is not killed", c.worker.id)
			return false, nil
		}
		select {
		case <-next:
			next = c.worker.next()
			if slices.ContainsFunc(c.worker.running(), c.job.owns) {
				return true, nil
			}
		case <-c.worker.done:
			return false, nil // by itself, which was said
		case <-changed:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// noteKilled keeps what is known so far for the report.
func (c *cluster) noteKilled(k killedWorker) {
	k.RerunBy = maps.Clone(k.RerunBy)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = &k
}

// by says who ran how many again, "" if nobody did.
func (k *killedWorker) by() string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(k.RerunBy)) {
		all = append(all, fmt.Sprintf("%s (%d)", id, k.RerunBy[id]))
	}
	return strings.Join(all, ", ")
}

// line is for the summary.
func (k *killedWorker) line() string {
	line := fmt.Sprintf("killed     %s, which ran %s", k.Worker, number(k.Ran, "task"))
	if k.by() != "" {
		line += fmt.Sprintf(": run again by %s, %v later", k.by(), milliseconds(k.GapMS))
	}
	return line
}

// number is a number of things.
func number(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// runsAgain waits until somebody else than that worker runs a task, or has ended it, and says who; "" if that will not be: the
// task was cancelled, or is not kept any more. While nobody can tell, it asks again: an outage delays what it waits for, too.
func (j *job) runsAgain(ctx context.Context, id, worker string) (by string, err error) {
	for {
		status, err := assign.Get(ctx, j.client, id)
		if errors.Is(err, assign.ErrTaskNotFound) {
			return "", nil // its outcome is not kept any more
		}
		if err == nil && status.State.Terminal() && (status.Worker == worker || status.State == assign.StateCancelled) {
			return "", nil
		}
		if err == nil && status.Worker != worker && (status.State.Terminal() || status.State == assign.StateRunning) {
			return status.Worker, nil
		}
		select {
		case <-time.After(pollPace):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
