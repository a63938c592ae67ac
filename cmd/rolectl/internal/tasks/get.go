package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func getCommand(t *scope) *cobra.Command {
	var result, follow bool
	cmd := &cobra.Command{
		Use: "get TASK", Short: "Show one task, or its output with --result",
		Long: `Show one task. For a task that is open or dead that includes its input, and each attempt that has failed: on which worker,
when, and with which error. For an open task it includes the checkpoint. For a dead task it includes the stack of a panic,
and until when the task is kept.

With --follow the command tells what happens to the task until the task has ended: a line for each event on a terminal,
a JSON document on a line elsewhere. It exits with 0 if the task has succeeded, and else with 1.`,
		Example: `  rolectl tasks get -n jobs nightly-1
  rolectl tasks get -n jobs nightly-1 --result | jq .
  rolectl tasks get -n jobs nightly-1 --follow && ./publish`,
		Args: cli.CheckArgs, ValidArgsFunction: t.completeTasks(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow {
				return t.withClient(cmd, -1, func(ctx context.Context, c *assign.Client) error {
					return t.follow(ctx, c, args[0], result)
				})
			}
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
	t.keyFlag(cmd)
	cmd.Flags().BoolVar(&result, "result", false,
		"write the output of the task unchanged; with -o json as a part of its document")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "tell what happens to the task until it has ended")
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
	return t.writeOutput(out)
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
			submitted
			saved
		}{show.Of("task"), t.namespace, s, o, inputOf(s), savedOf(s)})
	}
	if err := p.Print(taskTable(t.namespace, []assign.TaskStatus{s}, false)); err != nil || p.Format == "name" {
		return err
	}
	return t.printDetails(p, s)
}

// submitted is the input of a task in its JSON document. Input that is valid JSON is embedded
// unchanged.
type submitted struct {
	Input json.RawMessage `json:"input,omitempty"`
	Bytes []byte          `json:"input_bytes,omitempty"`
	// Sealed is the key with which the input is sealed, which cannot be opened here.
	Sealed string `json:"input_sealed,omitempty"`
}

func inputOf(s assign.TaskStatus) submitted {
	if s.Sealed != nil {
		return submitted{Sealed: s.Sealed.Key}
	}
	if json.Valid(s.Input) {
		return submitted{Input: s.Input}
	}
	return submitted{Bytes: s.Input}
}

// saved is the checkpoint of a task in its JSON document, as submitted is its input.
type saved struct {
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
	Bytes      []byte          `json:"checkpoint_bytes,omitempty"`
	Sealed     string          `json:"checkpoint_sealed,omitempty"`
}

func savedOf(s assign.TaskStatus) saved {
	switch {
	case s.CheckpointSealed != nil:
		return saved{Sealed: s.CheckpointSealed.Key}
	case json.Valid(s.Checkpoint):
		return saved{Checkpoint: s.Checkpoint}
	}
	return saved{Bytes: s.Checkpoint}
}

// shownData is how much of an input or a checkpoint a terminal shows, in bytes.
const shownData = 4 << 10

// dataLines say what an input or a checkpoint is, or why it is not there.
func dataLines(name string, data []byte, e *assign.SealedError) (lines []string) {
	if e != nil && errors.Is(e, assign.ErrTampered) {
		lines = append(lines, name+": "+wording.Clean(wording.Plain(e)))
	} else if e != nil {
		lines = append(lines, name+": sealed ("+wording.Clean(e.Key)+")")
	}
	if len(data) > 0 {
		text := wording.Clean(string(data[:min(len(data), shownData)]))
		if len(data) > shownData {
			text += fmt.Sprintf(" … (%d bytes; -o json has all)", len(data))
		}
		lines = append(lines, name+": "+text)
	}
	return lines
}

// printDetails prints what a line of a table has no room for.
func (t *scope) printDetails(p show.Printer, s assign.TaskStatus) error {
	var lines []string
	if s.Epoch > 0 {
		lines = append(lines, fmt.Sprint("epoch: ", s.Epoch))
	}
	lines = append(lines, dataLines("input", s.Input, s.Sealed)...)
	lines = append(lines, dataLines("checkpoint", s.Checkpoint, s.CheckpointSealed)...)
	if len(s.After) > 0 {
		lines = append(lines, "after: "+strings.Join(s.After, ", "))
	}
	if !s.KeptUntil.IsZero() {
		lines = append(lines, "kept until: "+s.KeptUntil.Format(time.RFC3339))
	}
	if s.Stack != "" {
		lines = append(lines, "stack:")
		for line := range strings.Lines(s.Stack) {
			lines = append(lines, "  "+wording.Clean(strings.TrimRight(line, "\n")))
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(p.W, line); err != nil {
			return err
		}
	}
	if len(s.Failures) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(p.W); err != nil {
		return err
	}
	table := show.Table{Columns: []string{"ENDED", "WORKER", "RAN", "CAUSE", "ERROR"}, Names: []string{"WORKER", "ERROR"}}
	for _, f := range s.Failures {
		ran := ""
		if f.Ran > 0 {
			ran = wording.Age(f.Ran)
		}
		table.Rows = append(table.Rows, show.Row{
			Cells: []string{f.Ended.Format(time.RFC3339), f.Worker, ran, f.Cause, f.Error},
		})
	}
	return p.Print(table)
}
