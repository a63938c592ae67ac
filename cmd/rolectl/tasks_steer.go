package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
)

// one is a command that does one thing with one name.
func (t *taskApp) one(use, short, example string, run func(ctx context.Context, c *assign.Client, name string) (done string, err error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				done, err := run(ctx, c, args[0])
				if err == nil {
					say("%s", done)
				}
				return err
			})
		},
	}
}

func taskCancel(t *taskApp) *cobra.Command {
	cmd := t.one("cancel TASK", "Cancel a task: its outcome is then cancelled, whatever its handler returns",
		"  rolectl tasks cancel -n files nightly-1",
		func(ctx context.Context, c *assign.Client, id string) (string, error) {
			kind, err := raw("any")
			if err != nil {
				return "", err
			}
			err = assign.Find(c, kind, id).Cancel(ctx)
			if errors.Is(err, assign.ErrCancelPending) {
				err = fmt.Errorf("%w: %s", assign.ErrCancelPending, id) // that the time was over is no news
			}
			return id + " is cancelled", err
		})
	cmd.Long = `Cancel a task, and wait until it has ended: its outcome is then cancelled, whatever its handler returns. The request is
stored first. Exit code 3 when nobody schedules: then it takes effect when somebody does.`
	return cmd
}

func taskRequeue(t *taskApp) *cobra.Command {
	return t.one("requeue TASK", "Submit a dead task once more, with all its attempts",
		"  rolectl tasks requeue -n files nightly-1",
		func(ctx context.Context, c *assign.Client, id string) (string, error) {
			return id + " is submitted once more", assign.Requeue(ctx, c, id)
		})
}

func taskDrain(t *taskApp) *cobra.Command {
	var undo bool
	var reason string
	cmd := t.one("drain INSTANCE", "Give an instance no more tasks, until it is undone; those that it runs go on",
		"  rolectl tasks drain -n files vm-2 --reason 'new kernel'\n  rolectl tasks drain -n files vm-2 --undo",
		func(ctx context.Context, c *assign.Client, instance string) (string, error) {
			if undo {
				return instance + " is given tasks again", assign.UndrainWorker(ctx, c, instance)
			}
			return instance + " is given no more tasks", assign.DrainWorker(ctx, c, instance, reason)
		})
	cmd.Flags().BoolVar(&undo, "undo", false, "give it tasks again")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	return cmd
}

func taskPause(t *taskApp) *cobra.Command {
	var reason string
	cmd := t.one("pause KIND", "Hand out no tasks of a kind, until it is resumed; those that run go on",
		"  rolectl tasks pause -n files checksum.v1 --reason 'bad release'",
		func(ctx context.Context, c *assign.Client, kind string) (string, error) {
			return kind + " is paused", assign.PauseKind(ctx, c, kind, reason)
		})
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	return cmd
}

func taskResume(t *taskApp) *cobra.Command {
	return t.one("resume KIND", "Hand out tasks of a kind again",
		"  rolectl tasks resume -n files checksum.v1",
		func(ctx context.Context, c *assign.Client, kind string) (string, error) {
			return kind + " is handed out again", assign.ResumeKind(ctx, c, kind)
		})
}
