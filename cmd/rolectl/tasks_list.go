package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// terminal are the states of tasks that have ended.
var terminal = []assign.State{assign.StateSucceeded, assign.StateDead, assign.StateCancelled, assign.StateExpired}

func taskList(t *taskApp) *cobra.Command {
	var o assign.ListOptions
	var states []string
	var most int
	cmd := &cobra.Command{
		Use: "ls", Short: "List tasks, the open ones first",
		Long: `List tasks: first those that are open, which the scheduler tells, then those that have ended and are still kept. While nobody
schedules only the latter are listed, and the exit code is 3.`,
		Example: "  rolectl tasks ls -n jobs\n  rolectl tasks ls -n jobs --state dead -o name | xargs -r -n1 rolectl tasks requeue -n jobs",
		Args:    takes, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 1 {
				return usage(fmt.Errorf("--limit %d: use 1 or more", most))
			}
			for _, s := range states {
				o.States = append(o.States, assign.State(s))
			}
			return t.with(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				found, more, err := listTasks(ctx, c, o, most)
				var partly error
				if errors.Is(err, assign.ErrNoScheduler) && len(o.States) == 0 {
					partly = &failure{exitNoLeader, fmt.Errorf("only tasks that have ended are listed: %w", err)}
					o.States = terminal
					found, more, err = listTasks(ctx, c, o, most)
				}
				if err != nil {
					return err
				}
				table := taskTable(t.namespace, found, more)
				if partly != nil {
					table.Empty = "no tasks of namespace " + t.namespace + " that have ended are kept"
				}
				if err := t.printer().Print(table); err != nil {
					return err
				}
				if more && t.format != "json" {
					t.say("there are more: see --limit, --state, --kind and --prefix")
				}
				return partly
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&states, "state", nil, "only these: pending, delayed, running, retrying, succeeded, dead, cancelled, expired")
	completeFlag(cmd, "state", "pending", "delayed", "running", "retrying", "succeeded", "dead", "cancelled", "expired")
	f.StringSliceVar(&o.Kinds, "kind", nil, "only tasks of these kinds")
	f.StringVar(&o.Prefix, "prefix", "", "only tasks whose id begins so")
	f.IntVar(&most, "limit", 100, "list so many at most")
	return cmd
}

// listTasks reads pages until there are enough.
func listTasks(ctx context.Context, c *assign.Client, o assign.ListOptions, most int) (found []assign.TaskStatus, more bool, err error) {
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

func taskTable(namespace string, found []assign.TaskStatus, more bool) show.Table {
	if found == nil {
		found = []assign.TaskStatus{}
	}
	t := show.Table{
		Columns: []string{"TASK", "KIND", "STATE", "WORKER", "ATTEMPTS", "AGE", "NOTE"},
		Wide:    []string{"PRIORITY", "RAN"},
		Empty:   "no such tasks in namespace " + namespace,
		JSON: struct {
			show.Document
			Namespace string              `json:"namespace"`
			Tasks     []assign.TaskStatus `json:"tasks"`
			More      bool                `json:"more,omitempty"`
		}{show.Of("tasks"), namespace, found, more},
	}
	for _, s := range found {
		since := s.Submitted
		if s.State.Terminal() {
			since = s.Ended
		}
		age, ran := "", ""
		if !since.IsZero() {
			age = show.Age(max(time.Since(since), 0))
		}
		if s.Ran > 0 {
			ran = show.Age(s.Ran)
		}
		t.Rows = append(t.Rows, show.Row{
			Name: s.ID, Tone: taskTone(s.State),
			Cells: []string{s.ID, s.Kind, string(s.State), s.Worker, fmt.Sprint(s.Attempts), age, note(s)},
			Wide:  []string{fmt.Sprint(s.Priority), ran},
		})
	}
	return t
}

// note is the one thing beside its state that is worth knowing of a task.
func note(s assign.TaskStatus) string {
	switch {
	case s.State == assign.StateRunning && s.Progress > 0:
		return fmt.Sprintf("%.0f %%", 100*s.Progress)
	case s.State == assign.StatePending && s.Reason != "":
		return "waits: " + words(string(s.Reason))
	case !s.State.Terminal() && !s.Due.IsZero():
		return "due in " + show.Age(max(time.Until(s.Due), 0))
	case s.Cause != "" && s.Error != "":
		return s.Cause + ": " + s.Error
	}
	return s.Cause + s.Error
}

// words is a name of several words as people write it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

func taskGet(t *taskApp) *cobra.Command {
	var result bool
	cmd := &cobra.Command{
		Use: "get TASK", Short: "Show one task, or with --result what it has returned",
		Example: "  rolectl tasks get -n jobs nightly-1\n  rolectl tasks get -n jobs nightly-1 --result | jq .",
		Args:    takes, ValidArgsFunction: t.completeTasks(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				s, err := assign.Get(ctx, c, args[0])
				if err != nil {
					return err
				}
				if !result {
					return t.printTask(s, outcome{})
				}
				if !s.State.Terminal() {
					return fmt.Errorf("%s is %s: it has not returned anything yet", s.ID, s.State)
				}
				return t.printResult(ctx, c, s)
			})
		},
	}
	cmd.Flags().BoolVar(&result, "result", false, "write what the task has returned, as it is; with -o json within the document of the task")
	return cmd
}

// printResult writes the output of a task that has ended.
func (t *taskApp) printResult(ctx context.Context, c *assign.Client, s assign.TaskStatus) error {
	kind, err := raw("any")
	if err != nil {
		return err
	}
	out, err := assign.Find(c, kind, s.ID).Wait(ctx)
	if err != nil {
		return err
	}
	if t.format == "json" {
		return t.printTask(s, returned(out))
	}
	return writeOutput(out)
}

// outcome is what a task has returned, in JSON documents: as it is where it is JSON itself.
type outcome struct {
	Result json.RawMessage `json:"result,omitempty"`
	Bytes  []byte          `json:"result_bytes,omitempty"`
}

func returned(out []byte) outcome {
	if json.Valid(out) {
		return outcome{Result: out}
	}
	return outcome{Bytes: out}
}

func (t *taskApp) printTask(s assign.TaskStatus, o outcome) error {
	p := t.printer()
	if p.Format == "json" {
		return p.JSON(struct {
			show.Document
			Namespace string            `json:"namespace"`
			Task      assign.TaskStatus `json:"task"`
			outcome
		}{show.Of("task"), t.namespace, s, o})
	}
	return p.Print(taskTable(t.namespace, []assign.TaskStatus{s}, false))
}
