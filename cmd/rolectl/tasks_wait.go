package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// await follows a task to its end: on a terminal with a bar, elsewhere by a line for each reason for which it waits.
func (t *taskApp) await(ctx context.Context, c *assign.Client, task *assign.Pending[[]byte], within time.Duration) error {
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	out, err := t.attended(ctx, c, task)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &failure{exitFailed, fmt.Errorf("%s has not ended within %v and goes on: see it with rolectl tasks get -n %s %s", task.ID(), within, t.namespace, task.ID())}
	}
	if err != nil && ctx.Err() != nil {
		return &failure{exitFailed, fmt.Errorf("%s goes on: see it with rolectl tasks get -n %s %s", task.ID(), t.namespace, task.ID())}
	}
	if err != nil {
		return err
	}
	if t.format != "json" {
		return writeOutput(out)
	}
	s, err := assign.Get(ctx, c, task.ID())
	if err != nil {
		return err
	}
	return t.printTask(s, returned(out))
}

// attended waits for a task, and says meanwhile what it waits for.
func (t *taskApp) attended(ctx context.Context, c *assign.Client, task *assign.Pending[[]byte]) ([]byte, error) {
	looking, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	whys := make(chan string)
	wg.Go(func() { t.why(looking, c, task.ID(), whys) })
	if t.format != "json" && show.IsTerminal(os.Stderr) {
		if err := follow(ctx, task, whys); err != nil {
			return nil, err
		}
		return task.Wait(ctx)
	}
	wg.Go(func() {
		for {
			select {
			case why := <-whys:
				if why != "" {
					t.say("%s waits: %s", task.ID(), why)
				}
			case <-looking.Done():
				return
			}
		}
	})
	return task.Wait(ctx)
}

// lookAgain is how often it is asked why a task waits; one that ends before that is not asked about.
const lookAgain = time.Second

// why tells why a task waits, whenever that has changed; "" when it waits no longer.
func (t *taskApp) why(ctx context.Context, c *assign.Client, id string, tell chan<- string) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	last := ""
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		why, err := t.waitsFor(ctx, c, id)
		if err != nil || why == last { // the connection comes back, or whoever waits for the task says what is wrong
			continue
		}
		last = why
		select {
		case tell <- why:
		case <-ctx.Done():
			return
		}
	}
}

// waitsFor is why a task waits, and what would end that.
func (t *taskApp) waitsFor(ctx context.Context, c *assign.Client, id string) (string, error) {
	s, err := assign.Get(ctx, c, id)
	if err != nil {
		return "", err
	}
	switch {
	case s.State == assign.StateDelayed:
		return "it is not due before " + s.Due.Format(time.RFC3339), nil
	case s.State == assign.StateRetrying:
		return fmt.Sprintf("attempt %d has failed, the next is due at %s", s.Attempts, s.Due.Format(time.RFC3339)), nil
	case s.State != assign.StatePending:
		return "", nil
	case s.Reason != "":
		return t.reason(s), nil
	}
	if _, err = overview(ctx, t.nc, c, t.namespace); errors.Is(err, assign.ErrNoScheduler) {
		return "no scheduler answers: start a process that leads the role whose Lead hands tasks out", nil
	}
	return "", err
}

// reason says what the scheduler says in a word, and what to do about it where time alone does not help.
func (t *taskApp) reason(s assign.TaskStatus) string {
	r, ok := unable[s.Reason]
	if !ok {
		return words(string(s.Reason))
	}
	return r.text + ": " + strings.NewReplacer("NAMESPACE", t.namespace, "KIND", s.Kind).Replace(r.fix)
}

// follow draws a bar until the task has ended or ctx has.
func follow(ctx context.Context, task *assign.Pending[[]byte], whys <-chan string) error {
	events, err := task.Events(ctx)
	if err != nil {
		return err
	}
	bar := show.NewProgress(os.Stderr, task.ID())
	defer bar.Close()
	tick := time.NewTicker(redraw)
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

// writeOutput writes what a task has returned, as it is; on a terminal the line is ended.
func writeOutput(out []byte) error {
	if _, err := os.Stdout.Write(out); err != nil {
		return err
	}
	if show.IsTerminal(os.Stdout) && (len(out) == 0 || out[len(out)-1] != '\n') {
		_, err := fmt.Println()
		return err
	}
	return nil
}
