package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func cronCommand(t *scope) *cobra.Command {
	cmd := cli.Group("cron", "See and define recurring tasks")
	cmd.AddCommand(cronList(t), cronSet(t), cronRemove(t))
	return cmd
}

func cronList(t *scope) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List recurring tasks, and their next ticks",
		Example: "  rolectl tasks cron ls -n jobs",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				all, err := assign.Recurrences(ctx, c)
				if err != nil {
					return err
				}
				return t.Printer().Print(cronTable(t.namespace, all))
			})
		},
	}
}

func cronTable(namespace string, all []assign.Recurrence) show.Table {
	if all == nil {
		all = []assign.Recurrence{}
	}
	t := show.Table{
		Columns: []string{"NAME", "KIND", "SCHEDULE", "ZONE", "LAST", "NEXT", "NOTE"},
		Wide:    []string{"CATCH-UP", "WINDOW", "SINCE"},
		Names:   []string{"NAME", "KIND", "ZONE", "NOTE"}, Spare: []string{"LAST", "ZONE"},
		Empty: "no recurring tasks in namespace " + namespace,
		JSON: struct {
			show.Document
			Namespace   string              `json:"namespace"`
			Recurrences []assign.Recurrence `json:"recurrences"`
		}{show.Of("recurrences"), namespace, all},
	}
	at := func(when time.Time) string {
		if when.IsZero() {
			return ""
		}
		return when.Format(time.RFC3339)
	}
	for _, r := range all {
		tone := show.Plain
		if r.Error != "" {
			tone = show.Bad
		}
		t.Rows = append(t.Rows, show.Row{
			Name: r.Name, Tone: tone, Cells: []string{r.Name, r.Kind, r.Spec, r.Zone, at(r.Last), at(r.Next), r.Error},
			Wide: []string{string(r.CatchUp), show.Age(r.CatchUpWindow), at(r.Since)},
		})
	}
	return t
}

func cronSet(t *scope) *cobra.Command {
	var s submission
	var zone, catchUp string
	var window time.Duration
	cmd := &cobra.Command{
		Use: "set NAME KIND SCHEDULE [INPUT|-]", Short: "Submit a task at each tick of a schedule",
		Long: `Let the scheduler submit a task at each tick of a schedule. SCHEDULE is a cron expression with five fields, or a word such as
@daily or "@every 10m". An earlier definition under the same name is replaced.`,
		Example: `  rolectl tasks cron set -n jobs nightly echo '0 3 * * *' '"hello"' --zone Europe/Berlin`,
		Args:    cli.CheckArgs, ValidArgsFunction: t.completeKinds(1, func(knownKind) bool { return true }),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := s.kind(args[1])
			if err != nil {
				return err
			}
			data, err := s.input(cmd.Context(), t.App, args[3:])
			if err != nil {
				return err
			}
			options := []assign.RecurOption{assign.InZone(zone), assign.CatchUp(assign.CatchUpPolicy(catchUp))}
			if window != 0 {
				options = append(options, assign.CatchUpWindow(window))
			}
			for name, value := range s.headers {
				options = append(options, assign.RecurHeader(name, value))
			}
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				if err := assign.Recur(ctx, c, kind, args[0], args[2], data, options...); err != nil {
					return err
				}
				return t.printDone(cmd, args[0], args[0]+" recurs")
			})
		},
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&zone, "zone", "UTC", "time zone of the schedule")
	cli.ChoiceFlag(cmd, &catchUp, "catch-up", string(assign.CatchUpLatest),
		fmt.Sprintf("which ticks to fire that passed while no scheduler led: %s, %s or %s", assign.CatchUpLatest,
			assign.CatchUpAll, assign.CatchUpSkip),
		string(assign.CatchUpLatest), string(assign.CatchUpAll), string(assign.CatchUpSkip))
	cli.DurationFlag(cmd, &window, "catch-up-window", 0, 0,
		"how late a tick may be fired with --catch-up skip (0: 1m)")
	return cmd
}

func cronRemove(t *scope) *cobra.Command {
	return t.nameCommand("rm NAME", "Stop a recurring task; tasks that were submitted continue",
		"  rolectl tasks cron rm -n jobs nightly", t.completeRecurrences(),
		func(ctx context.Context, c *assign.Client, name string) (string, error) {
			return name + " no longer recurs", assign.RemoveRecurrence(ctx, c, name)
		})
}
