package tasks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func getCommand(t *scope) *cobra.Command {
	var result bool
	cmd := &cobra.Command{
		Use: "get TASK", Short: "Show one task, or its output with --result",
		Example: "  rolectl tasks get -n jobs nightly-1\n  rolectl tasks get -n jobs nightly-1 --result | jq .",
		Args:    cli.CheckArgs, ValidArgsFunction: t.completeTasks(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				s, err := assign.Get(ctx, c, args[0])
				if err != nil {
					return err
				}
				if !result {
					return t.printTask(s, outcome{})
				}
				if !s.State.Terminal() {
					return fmt.Errorf("%s is %s and has no output yet", s.ID, s.State)
				}
				return t.printResult(ctx, c, s)
			})
		},
	}
	cmd.Flags().BoolVar(&result, "result", false,
		"write the output of the task unchanged; with -o json as a part of its document")
	return cmd
}

// printResult writes the output of a task that has ended.
func (t *scope) printResult(ctx context.Context, c *assign.Client, s assign.TaskStatus) error {
	kind, err := inventory.RawKind("any")
	if err != nil {
		return err
	}
	out, err := assign.Find(c, kind, s.ID).Wait(ctx)
	if err != nil {
		return err
	}
	if t.Format == "json" {
		return t.printTask(s, returned(out))
	}
	return writeOutput(out)
}

// outcome is the output of a task in its JSON document. Output that is valid JSON is embedded
// unchanged.
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

func (t *scope) printTask(s assign.TaskStatus, o outcome) error {
	p := t.Printer()
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
