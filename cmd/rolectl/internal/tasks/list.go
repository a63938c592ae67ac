package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// endedStates are the states of tasks that have ended, openStates those of the others.
var (
	endedStates = []assign.State{
		assign.StateSucceeded, assign.StateDead, assign.StateCancelled, assign.StateExpired, assign.StateSkipped,
	}
	openStates = []assign.State{assign.StatePending, assign.StateDelayed, assign.StateRunning, assign.StateRetrying}
)

func listCommand(t *scope) *cobra.Command {
	var only filter
	var most int
	var newest bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List tasks, the open ones first",
		Long: `List tasks: first the open tasks, which the scheduler reports, then tasks that have ended and are still kept. Without a
scheduler the command lists only tasks that have ended, and exits with 3.

Those that have ended come in the order in which they ended, the oldest first, and --limit cuts the newest off. With --newest
the list begins with the task that was submitted or has ended last. All tasks are read for that.

If another scheduler takes over meanwhile, or a task ends, a task may be listed twice. None is left out that is open all the
while.`,
		Example: "  rolectl tasks ls -n jobs\n  rolectl tasks ls -n jobs --state dead --since 24h --header tenant=a",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 1 {
				return cli.UsageError(fmt.Errorf("--limit %d: use 1 or more", most))
			}
			o, err := only.options()
			if err != nil {
				return err
			}
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				listTasks := listTasks
				if newest {
					listTasks = newestTasks
				}
				found, more, err := listTasks(ctx, c, o, most)
				var partly error
				if errors.Is(err, assign.ErrNoScheduler) && len(o.States) == 0 {
					partly = cli.ExitWith(cli.ExitNoLeader, fmt.Errorf("the list has only tasks that have ended: %w", err))
					o.States = endedStates
					found, more, err = listTasks(ctx, c, o, most)
				}
				if err != nil {
					return err
				}
				table := taskTable(t.namespace, found, more)
				if partly != nil {
					table.Empty = "namespace " + t.namespace + " keeps no tasks that have ended"
				}
				if err := t.Printer().Print(table); err != nil {
					return err
				}
				if more && t.Format != "json" {
					t.Say("there are more tasks: see --limit, --newest, --state, --kind and --prefix")
				}
				return partly
			})
		},
	}
	only.stateFlag(cmd, slices.Concat(openStates, endedStates)...)
	only.flags(cmd)
	cmd.Flags().IntVar(&most, "limit", 100, "maximum number of tasks")
	cmd.Flags().BoolVar(&newest, "newest", false, "begin with the task that was submitted or has ended last")
	return cmd
}

// listTasks reads pages until it has enough tasks.
func listTasks(ctx context.Context, c *assign.Client, o assign.ListOptions,
	most int,
) (found []assign.TaskStatus, more bool, err error) {
	const page = 500
	for o.Cursor = ""; ; {
		o.Limit = min(most-len(found), page)
		p, err := assign.List(ctx, c, o)
		if err != nil {
			return nil, false, err
		}
		found = append(found, p.Tasks...)
		switch o.Cursor = p.Next; {
		case p.Next == "":
			return found, false, nil
		case len(found) >= most:
			return found, true, nil
		}
	}
}

// newestTasks reads all pages, and keeps the newest tasks, the last one first.
func newestTasks(ctx context.Context, c *assign.Client, o assign.ListOptions,
	most int,
) (found []assign.TaskStatus, more bool, err error) {
	const page = 500
	o.Limit = page
	for o.Cursor = ""; ; {
		p, err := assign.List(ctx, c, o)
		if err != nil {
			return nil, false, err
		}
		found = append(found, p.Tasks...)
		slices.SortStableFunc(found, func(a, b assign.TaskStatus) int { return since(b).Compare(since(a)) })
		if len(found) > most {
			found, more = slices.Delete(found, most, len(found)), true
		}
		if o.Cursor = p.Next; p.Next == "" {
			return found, more, nil
		}
	}
}

// since is when a task has ended or, if it is open, was submitted.
func since(s assign.TaskStatus) time.Time {
	if s.State.Terminal() {
		return s.Ended
	}
	return s.Submitted
}

func taskTable(namespace string, found []assign.TaskStatus, more bool) show.Table {
	if found == nil {
		found = []assign.TaskStatus{}
	}
	t := show.Table{
		Columns: []string{"TASK", "KIND", "STATE", "WORKER", "ATTEMPTS", "AGE", "NOTE"},
		Wide:    []string{"PRIORITY", "RAN"},
		Names:   []string{"TASK", "KIND", "WORKER", "NOTE"}, Spare: []string{"ATTEMPTS", "WORKER"},
		Empty: "no such tasks in namespace " + namespace,
		JSON: struct {
			show.Document
			Namespace string              `json:"namespace"`
			Tasks     []assign.TaskStatus `json:"tasks"`
			More      bool                `json:"more,omitempty"`
		}{show.Of("tasks"), namespace, found, more},
	}
	for _, s := range found {
		age, ran := "", ""
		if at := since(s); !at.IsZero() {
			age = wording.Age(max(time.Since(at), 0))
		}
		if s.Ran > 0 {
			ran = wording.Age(s.Ran)
		}
		t.Rows = append(t.Rows, show.Row{
			Name: s.ID, Tone: toneOf(s.State),
			Cells: []string{s.ID, s.Kind, string(s.State), s.Worker, fmt.Sprint(s.Attempts), age, note(s)},
			Wide:  []string{fmt.Sprint(s.Priority), ran},
		})
	}
	return t
}

// note returns the most useful detail about a task: its progress, why it waits, when it is due, or
// its error.
func note(s assign.TaskStatus) string {
	switch {
	case s.State == assign.StateRunning && s.Progress > 0:
		return fmt.Sprintf("%.0f %%", 100*s.Progress)
	case s.State == assign.StatePending && s.Reason != "":
		return "waits: " + wording.Words(string(s.Reason))
	case !s.State.Terminal() && !s.Due.IsZero():
		return "due in " + wording.Age(max(time.Until(s.Due), 0))
	case s.Cause != "" && s.Error != "":
		return s.Cause + ": " + s.Error
	}
	return s.Cause + s.Error
}
