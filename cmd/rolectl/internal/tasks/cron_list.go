package tasks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func cronList(t *scope) *cobra.Command {
	var o assign.RecurrenceListOptions
	var most int
	cmd := &cobra.Command{
		Use: "ls", Short: "List recurring tasks, and their next ticks",
		Long: `List recurring tasks, with the last tick and the next one of each. Of more than --limit the command lists the first, and says
with which --cursor the list continues.`,
		Example: "  rolectl tasks cron ls -n jobs\n  rolectl tasks cron ls -n jobs --prefix tenants/ --limit 500",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 1 {
				return cli.UsageError(fmt.Errorf("--limit %d: use 1 or more", most))
			}
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				found, next, err := listRecurrences(ctx, c, o, most)
				if err != nil {
					return err
				}
				if err := t.Printer().Print(cronTable(t.namespace, found, next)); err != nil {
					return err
				}
				if next != "" && t.Format != "json" {
					t.Say("there are more: continue with --cursor %s", next)
				}
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Prefix, "prefix", "", "only names that begin so")
	f.StringVar(&o.Cursor, "cursor", "", "where another list has ended")
	f.IntVar(&most, "limit", 1000, "maximum number of recurring tasks")
	return cmd
}

// listRecurrences reads pages until it has enough. next is where the list continues, "" for its
// end.
func listRecurrences(ctx context.Context, c *assign.Client, o assign.RecurrenceListOptions,
	most int,
) (found []assign.Recurrence, next string, err error) {
	const page = 500
	for {
		o.Limit = min(most-len(found), page)
		p, err := assign.ListRecurrences(ctx, c, o)
		if err != nil {
			return nil, "", err
		}
		found = append(found, p.Recurrences...)
		if o.Cursor = p.Next; p.Next == "" || len(found) >= most {
			return found, p.Next, nil
		}
	}
}

func cronTable(namespace string, all []assign.Recurrence, next string) show.Table {
	if all == nil {
		all = []assign.Recurrence{}
	}
	t := show.Table{
		Columns: []string{"NAME", "KIND", "SCHEDULE", "ZONE", "LAST", "NEXT", "NOTE"},
		Wide:    []string{"CATCH-UP", "WINDOW", "OVERLAP", "SINCE", "VERSION"},
		Names:   []string{"NAME", "KIND", "ZONE", "NOTE"}, Spare: []string{"LAST", "ZONE"},
		Empty: "no recurring tasks in namespace " + namespace,
		JSON: struct {
			show.Document
			Namespace   string              `json:"namespace"`
			Recurrences []assign.Recurrence `json:"recurrences"`
			Next        string              `json:"next,omitempty"`
		}{show.Of("recurrences"), namespace, all, next},
	}
	at := func(when time.Time) string {
		if when.IsZero() {
			return ""
		}
		return when.Format(time.RFC3339)
	}
	for _, r := range all {
		tone, note := show.Plain, r.Error
		switch {
		case r.Error != "":
			tone = show.Bad
		case r.Paused && r.PauseReason != "":
			note = "paused: " + r.PauseReason
		case r.Paused:
			note = "paused"
		}
		t.Rows = append(t.Rows, show.Row{
			Name: r.Name, Tone: tone, Cells: []string{r.Name, r.Kind, r.Spec, r.Zone, at(r.Last), at(r.Next), note},
			Wide: []string{
				string(r.CatchUp), wording.Age(r.CatchUpWindow), string(r.Overlap), at(r.Since), strconv.Itoa(r.Version),
			},
		})
	}
	return t
}
