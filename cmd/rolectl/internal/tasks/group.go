package tasks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func groupCommand(t *scope) *cobra.Command {
	return &cobra.Command{
		Use: "group NAME", Short: "Show how the members of a group of tasks have ended",
		Long: `Show how the members of a group of tasks have ended, and where its completion is, the task that runs after them.

The scheduler counts again every 10 s as long as members end. The numbers are final when the completion runs. The first
1,000 members that have failed are listed by their ids: "rolectl tasks get" shows why.`,
		Example: "  rolectl tasks group -n jobs nightly-1\n  rolectl tasks group -n jobs nightly-1 -o json",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				s, err := assign.GroupRef{Group: args[0]}.Status(ctx, c)
				if err != nil {
					return err
				}
				return t.printGroup(s)
			})
		},
	}
}

func (t *scope) printGroup(s assign.GroupStatus) error {
	p := t.Printer()
	table := show.Table{
		Columns: []string{
			"GROUP", "COMPLETION", "SIZE", "MISSING", "OPEN", "SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED", "SKIPPED", "LOST",
		},
		Names: []string{"GROUP", "COMPLETION"}, Spare: []string{"CANCELLED", "EXPIRED", "SKIPPED", "LOST"},
		JSON: struct {
			show.Document
			Namespace string             `json:"namespace"`
			Group     assign.GroupStatus `json:"group"`
		}{show.Of("group"), t.namespace, s},
	}
	row := show.Row{Name: s.Name, Tone: toneOf(s.Completion.State), Cells: []string{s.Name, string(s.Completion.State)}}
	for _, n := range []int{
		s.Size, s.Missing, s.Open, s.Succeeded, s.Dead, s.Cancelled, s.Expired, s.Skipped, s.Lost,
	} {
		row.Cells = append(row.Cells, fmt.Sprint(n))
	}
	table.Rows = append(table.Rows, row)
	if err := p.Print(table); err != nil || p.Format == "json" || p.Format == "name" {
		return err
	}
	lines := []string{"counted: not yet"}
	if !s.Recorded.IsZero() {
		lines[0] = "counted: " + s.Recorded.Format(time.RFC3339)
	}
	if len(s.Failed) > 0 {
		lines = append(lines, "failed: "+wording.Clean(strings.Join(s.Failed, ", ")))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(p.W, line); err != nil {
			return err
		}
	}
	return nil
}
