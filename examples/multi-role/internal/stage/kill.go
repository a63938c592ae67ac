package stage

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

// killedWorker describes the tasks of this run that a killed worker ran.
type killedWorker struct {
	Worker string `json:"worker"`
	// Ran counts the tasks that the worker ran when it was killed: none of them has reported its
	// end.
	Ran int `json:"ran"`
	// GuardMS counts from the kill to the end of its guard, which has ended its session before. It is
	// 0 if the guard could not: then the session lasts until its lease has run out.
	GuardMS float64 `json:"guard_ms"`
	// RerunBy counts, for each instance, the tasks that it ran again. A task that is missing was
	// cancelled, or is not kept any more.
	RerunBy map[string]int `json:"rerun_by"`
	// GapMS counts from the kill to the moment at which the last of them was seen to run again. It
	// lasts until the session of the worker is dead, and until an instance has a free slot.
	GapMS float64 `json:"gap_ms"`
}

// askInterval is how often the scheduler is asked what has become of a task.
const askInterval = 10 * time.Millisecond

// killWorker kills the worker when it has just begun a task, and waits until all that it ran runs
// elsewhere.
func (d *demo) killWorker(ctx context.Context) error {
	d.screen.snapshot(d.table())
	if begun, err := d.awaitWorkerBegins(ctx); !begun {
		return err
	}
	worker, from := d.cluster.worker, d.history.now()
	if err := worker.kill(); err != nil || !worker.state.is(killed) {
		return err // or it had ended by itself, which was reported
	}
	took := d.history.now() - from
	ran := slices.DeleteFunc(worker.running(), func(id string) bool { return !d.job.owns(id) })
	d.screen.say(yellow, "%s is killed: SIGKILL to its process, which runs %s", worker.id, number(len(ran), "task"))
	k := killedWorker{Worker: worker.id, Ran: len(ran), RerunBy: map[string]int{}}
	if worker.guarded() {
		k.GuardMS = float64(took.Microseconds()) / 1000
		d.screen.say(green, "the guard of %s has ended its session, %v after it was killed",
			k.Worker, milliseconds(k.GuardMS))
	}
	d.noteKilled(k)
	for _, id := range ran {
		by, err := d.awaitRerun(ctx, id, worker.id)
		if err != nil {
			return err
		}
		if by == "" {
			continue
		}
		k.RerunBy[by]++
		k.GapMS = float64((d.history.now() - from).Microseconds()) / 1000
		d.noteKilled(k)
	}
	if k.by() != "" {
		d.screen.say(green, "the tasks of %s are run again, by %s, %v after it was killed",
			k.Worker, k.by(), milliseconds(k.GapMS))
	}
	return nil
}

// awaitWorkerBegins waits until the worker begins a task. It reports false if the worker has ended,
// or gets no task until another fault is due.
func (d *demo) awaitWorkerBegins(ctx context.Context) (bool, error) {
	worker := d.cluster.worker
	for next := worker.next(); ; {
		late, changed := d.job.hasDone(vanishWhen)
		if late {
			d.screen.say(yellow, "%s begins no task, and is not killed", worker.id)
			return false, nil
		}
		select {
		case <-next:
			next = worker.next()
			if slices.ContainsFunc(worker.running(), d.job.owns) {
				return true, nil
			}
		case <-worker.done:
			return false, nil // by itself, which was reported
		case <-changed:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// awaitRerun waits until another instance than that worker runs a task, or has ended it, and
// returns which; "" if that will not be: the task was cancelled, or is not kept any more. While no
// scheduler answers, it asks again: an outage delays the rerun, too.
func (d *demo) awaitRerun(ctx context.Context, id, worker string) (by string, err error) {
	for {
		status, err := assign.Get(ctx, d.client, id)
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
		case <-time.After(askInterval):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// noteKilled keeps the facts known so far for the report.
func (d *demo) noteKilled(k killedWorker) {
	k.RerunBy = maps.Clone(k.RerunBy)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.killed = &k
}

// by lists the instances that ran tasks again, and how many each, "" if none did.
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
	if k.GuardMS > 0 {
		line += fmt.Sprintf("; its guard ended its session %v later", milliseconds(k.GuardMS))
	}
	if k.by() != "" {
		line += fmt.Sprintf("; run again by %s, %v later", k.by(), milliseconds(k.GapMS))
	}
	return line
}
