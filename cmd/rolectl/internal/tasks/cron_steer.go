package tasks

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
)

func cronPause(t *scope) *cobra.Command {
	var reason string
	cmd := t.nameCommand("pause NAME", "Fire no ticks of a recurring task until it is resumed",
		"  rolectl tasks cron pause -n jobs nightly --reason 'migration'",
		t.completeRecurrences(func(r assign.Recurrence) bool { return !r.Paused }),
		func(ctx context.Context, c *assign.Client, name string) (string, error) {
			return name + " is paused", assign.PauseRecurrence(ctx, c, name, reason)
		})
	cmd.Long = `Fire no ticks of a recurring task until it is resumed; tasks that were submitted continue. The request is stored and needs no
scheduler. A program that defines the recurring task again does not end the pause.`
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, shown to people")
	return cmd
}

func cronResume(t *scope) *cobra.Command {
	cmd := t.nameCommand("resume NAME", "Fire the ticks of a recurring task again",
		"  rolectl tasks cron resume -n jobs nightly",
		t.completeRecurrences(func(r assign.Recurrence) bool { return r.Paused }),
		func(ctx context.Context, c *assign.Client, name string) (string, error) {
			done := name + " recurs again"
			if r, err := assign.GetRecurrence(ctx, c, name); err == nil && !r.Paused {
				done = name + " was not paused"
			}
			return done, assign.ResumeRecurrence(ctx, c, name)
		})
	cmd.Long = `Fire the ticks of a recurring task again, from now on. Ticks that came during the pause are dropped.`
	return cmd
}

func cronRun(t *scope) *cobra.Command {
	cmd := t.nameCommand("run NAME", "Submit the task of a recurring task now, beside its ticks",
		"  rolectl tasks cron run -n jobs nightly",
		t.completeRecurrences(func(assign.Recurrence) bool { return true }), nil)
	cmd.Long = `Submit the task of a recurring task now, also of one that is paused, and print the id of the task. No tick is moved by that.`
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
			r, err := assign.GetRecurrence(ctx, c, args[0])
			if err != nil {
				return err
			}
			id, err := assign.RunRecurrence(ctx, c, args[0])
			if err != nil {
				return err
			}
			return t.submitted(id, r.Kind, false)
		})
	}
	return cmd
}
