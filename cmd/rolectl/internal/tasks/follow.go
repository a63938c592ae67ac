package tasks

import (
	"context"
	"fmt"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
)

// follow writes what happens to a task until the task has ended, or writes only its output then.
func (t *scope) follow(ctx context.Context, c *assign.Client, id string, result bool) error {
	if err := t.find(ctx, c, id); err != nil {
		return err
	}
	kind, err := inventory.RawKind("any")
	if err != nil {
		return err
	}
	events, err := assign.Find(c, kind, id).Events(ctx)
	if err != nil {
		return err
	}
	w, last := t.eventWriter(), assign.TaskEvent{}
	for last = range events {
		if !result {
			if err := w.write(last); err != nil {
				return err
			}
		}
	}
	switch s := last.Task; {
	case ctx.Err() != nil:
		return cli.ExitWith(cli.ExitFailed, fmt.Errorf("%s continues: see rolectl tasks get -n %s %[1]s", id, t.namespace))
	case last.Type != assign.EventEnded:
		return fmt.Errorf("%w: %s, while it was followed", assign.ErrTaskNotFound, id)
	case s.State != assign.StateSucceeded && result:
		return s.Err
	case s.State != assign.StateSucceeded:
		return cli.ExitCode(cli.ExitFailed)
	case result:
		return t.printResult(ctx, c, s)
	}
	return nil
}

// find looks for a task within --timeout: following it has more time, and must not wait for a
// server that does not answer.
func (t *scope) find(ctx context.Context, c *assign.Client, id string) error {
	ctx, cancel := context.WithTimeout(ctx, t.Target.Timeout)
	defer cancel()
	_, err := assign.Get(ctx, c, id)
	return err
}
