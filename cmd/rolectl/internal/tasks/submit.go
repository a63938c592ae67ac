package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func submitCommand(t *scope) *cobra.Command {
	var s submission
	var id, unique, sticky, limitKey, fairKey, at string
	var after []string
	var delay, deadline, waitFor time.Duration
	var wait bool
	cmd := &cobra.Command{
		Use: "submit KIND [INPUT|-]", Short: "Submit a task; with --wait, wait for its output",
		Long: `Submit a task: a kind, and an input as JSON, as an argument or on standard input. The command stores the task, which needs no
scheduler, and prints the id of the task. If a task with the same --id exists, no second one is submitted.

Options without a flag are those that the programs of the kind have declared (assign.Declare), or else the defaults. Options
with which a program only handles the kind, or submits it, are its own.

With --wait the command waits until the task has ended, and writes its output unchanged (with -o json: the document of the
task, with the output in it). On a terminal, standard error shows a progress bar. Without a terminal, it shows a line whenever
the reason for waiting changes. Exit code 1 when the task did not succeed. An interrupt ends the command, not the task.`,
		Example: `  rolectl tasks submit -n jobs echo '"hello"'
  rolectl tasks submit -n jobs echo '"hello"' --wait
  jq -c . job.json | rolectl tasks submit -n jobs import.v2 - --id import-2026-01 --attempts 3`,
		Args: cli.CheckArgs, ValidArgsFunction: t.completeKinds(0, func(knownKind) bool { return true }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if waitFor > 0 && !wait {
				return cli.UsageError(errors.New("--wait-timeout needs --wait"))
			}
			if err := s.check(args[0]); err != nil {
				return err
			}
			data, err := s.input(cmd.Context(), t.App, args[1:])
			if err != nil {
				return err
			}
			due, err := dueAt(at, delay)
			if err != nil {
				return err
			}
			var options []assign.SubmitOption
			for name, value := range s.headers {
				options = append(options, assign.WithHeader(name, value))
			}
			for _, o := range []struct {
				given  bool
				option assign.SubmitOption
			}{
				{id != "", assign.WithID(id)},
				{unique != "", assign.WithUnique(unique)},
				{sticky != "", assign.WithSticky(sticky)},
				{limitKey != "", assign.WithLimitKey(limitKey)},
				{fairKey != "", assign.WithFairKey(fairKey)},
				{len(after) > 0, assign.After(after...)},
				{delay > 0, assign.WithDelay(delay)},
				{at != "", assign.At(due)},
				{deadline > 0, assign.WithDeadline(deadline)},
			} {
				if o.given {
					options = append(options, o.option)
				}
			}
			within := time.Duration(0)
			if wait {
				within = -1
			}
			return t.withClient(cmd, within, func(ctx context.Context, c *assign.Client) error {
				storing, cancel := context.WithTimeout(ctx, t.Target.Timeout)
				defer cancel()
				kind, err := s.kind(storing, c, args[0])
				if err != nil {
					return err
				}
				task, err := assign.Submit(storing, c, kind, data, options...)
				if err != nil {
					return err
				}
				if task.Existing() {
					t.Say("%s exists already", task.ID())
				}
				if wait {
					defer t.EndWhenUnread(cmd)() // the task itself continues
					return t.waitForOutcome(cmd.Context(), c, task, waitFor)
				}
				return t.submitted(task.ID(), args[0], task.Existing())
			})
		},
	}
	s.flags(cmd)
	t.keyFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&id, "id", "", "id of the task (default: a unique one)")
	f.StringVar(&unique, "unique", "", "submit only if no task of this kind with this key is open")
	f.StringSliceVar(&after, "after", nil, "run after these tasks have succeeded; else skip it")
	f.StringVar(&sticky, "sticky", "", "prefer one worker for all tasks of this key")
	f.StringVar(&limitKey, "limit-key", "", "run tasks of this key one at a time")
	f.StringVar(&fairKey, "fair-key", "", "key (such as a tenant) that takes turns with the others of the kind")
	cli.DurationFlag(cmd, &delay, "delay", 0, 0, "how long to wait before the task is due")
	f.StringVar(&at, "at", "", "when the task is due, such as 2026-01-02T15:04:05Z")
	cli.DurationFlag(cmd, &deadline, "deadline", 0, 0, "time from submission until the task expires")
	f.BoolVarP(&wait, "wait", "w", false, "wait until the task has ended, and write its output")
	cli.DurationFlag(cmd, &waitFor, "wait-timeout", 0, 0, "how long to wait (0: no limit)")
	return cmd
}

// dueAt reads --at, which excludes a delay. "" is the zero time.
func dueAt(at string, delay time.Duration) (time.Time, error) {
	if at == "" {
		return time.Time{}, nil
	}
	if delay > 0 {
		return time.Time{}, cli.UsageError(errors.New("--at and --delay exclude each other: leave one out"))
	}
	due, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return due, cli.UsageError(fmt.Errorf("--at %q: use a time such as 2026-01-02T15:04:05Z", at))
	}
	return due, nil
}

func (t *scope) submitted(id, kind string, existing bool) error {
	p := t.Printer()
	if p.Format == "json" {
		return p.JSON(struct {
			show.Document
			Namespace string `json:"namespace"`
			ID        string `json:"id"`
			TaskKind  string `json:"task_kind"`
			Existing  bool   `json:"existing,omitempty"`
		}{show.Of("submitted"), t.namespace, id, kind, existing})
	}
	_, err := fmt.Fprintln(p.W, id)
	return err
}
