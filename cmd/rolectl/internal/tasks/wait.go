package tasks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// waitForOutcome waits until a task has ended. Meanwhile a terminal shows a progress bar; other
// outputs get a line for each reason to wait.
func (t *scope) waitForOutcome(ctx context.Context, c *assign.Client, task *assign.Pending[[]byte],
	within time.Duration,
) error {
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	out, err := t.waitAndExplain(ctx, c, task)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return cli.ExitWith(cli.ExitFailed,
			fmt.Errorf("%s has not ended within %v and continues: see rolectl tasks get -n %s %s", task.ID(), within,
				t.namespace, task.ID()))
	}
	if err != nil && ctx.Err() != nil {
		return cli.ExitWith(cli.ExitFailed, fmt.Errorf("%s continues: see rolectl tasks get -n %s %s", task.ID(), t.namespace,
			task.ID()))
	}
	if err != nil {
		return err
	}
	if t.Format != "json" {
		return t.writeOutput(out)
	}
	s, err := assign.Get(ctx, c, task.ID())
	if err != nil {
		return err
	}
	return t.printTask(s, returned(out))
}

// waitAndExplain waits for a task, and reports meanwhile why the task waits.
func (t *scope) waitAndExplain(ctx context.Context, c *assign.Client, task *assign.Pending[[]byte]) ([]byte, error) {
	looking, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	whys := make(chan string)
	wg.Go(func() { t.watchReasons(looking, c, task.ID(), whys) })
	if t.Format != "json" && show.IsTerminal(t.Err) {
		if err := t.drawProgress(ctx, task, whys); err != nil {
			return nil, err
		}
		return task.Wait(ctx)
	}
	wg.Go(func() {
		for {
			select {
			case why := <-whys:
				if why != "" {
					t.Say("%s waits: %s", task.ID(), why)
				}
			case <-looking.Done():
				return
			}
		}
	})
	return task.Wait(ctx)
}

// drawProgress draws a progress bar until the task or ctx ends.
func (t *scope) drawProgress(ctx context.Context, task *assign.Pending[[]byte], whys <-chan string) error {
	events, err := task.Events(ctx)
	if err != nil {
		return err
	}
	bar := show.NewProgress(t.Err, task.ID())
	defer bar.Close()
	tick := time.NewTicker(show.RedrawEvery)
	defer tick.Stop()
	state, why, progress := "pending", "", 0.0
	for {
		now := state
		if why != "" {
			now += ": " + why
		}
		bar.Draw(now, progress)
		select {
		case e, ok := <-events:
			if !ok {
				return nil
			}
			state, why, progress = string(e.Task.State), "", e.Task.Progress
			if e.Task.Worker != "" && !e.Task.State.Terminal() {
				state += " by " + e.Task.Worker
			}
			if e.Task.State == assign.StateSucceeded {
				progress = 1
			}
		case why = <-whys:
		case <-tick.C:
		}
	}
}

// writeOutput writes the output of a task unchanged. On a terminal it ends the last line.
func (t *scope) writeOutput(out []byte) error {
	if _, err := t.Out.Write(out); err != nil {
		return err
	}
	if show.IsTerminal(t.Out) && (len(out) == 0 || out[len(out)-1] != '\n') {
		_, err := fmt.Fprintln(t.Out)
		return err
	}
	return nil
}
