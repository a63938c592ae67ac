package tasks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

func cronCommand(t *scope) *cobra.Command {
	cmd := cli.Group("cron", "See and define recurring tasks")
	cmd.AddCommand(cronList(t), cronSet(t), cronRemove(t), cronPause(t), cronResume(t), cronRun(t), cronBackfill(t))
	return cmd
}

func cronSet(t *scope) *cobra.Command {
	var s submission
	var zone, catchUp, overlap string
	var window time.Duration
	var version int
	cmd := &cobra.Command{
		Use: "set NAME KIND SCHEDULE [INPUT|-]", Short: "Submit a task at each tick of a schedule",
		Long: `Let the scheduler submit a task at each tick of a schedule. SCHEDULE is a cron expression with five fields, or a word such as
@daily or "@every 10m". An earlier definition under the same name is replaced, unless it has a higher version. With the same
schedule and zone the new one continues: ticks that are due are fired.`,
		Example: `  rolectl tasks cron set -n jobs nightly echo '0 3 * * *' '"hello"' --zone Europe/Berlin`,
		Args:    cli.CheckArgs, ValidArgsFunction: t.completeKinds(1, func(knownKind) bool { return true }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.check(args[1]); err != nil {
				return err
			}
			data, err := s.input(cmd.Context(), t.App, args[3:])
			if err != nil {
				return err
			}
			options := []assign.RecurOption{
				assign.InZone(zone), assign.CatchUp(assign.CatchUpPolicy(catchUp)),
				assign.Overlap(assign.OverlapPolicy(overlap)),
			}
			if window != 0 {
				options = append(options, assign.CatchUpWindow(window))
			}
			for name, value := range s.headers {
				options = append(options, assign.RecurHeader(name, value))
			}
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				kind, err := s.kind(ctx, c, args[1])
				if err != nil {
					return err
				}
				stored, err := assign.GetRecurrence(ctx, c, args[0])
				if err != nil && !errors.Is(err, assign.ErrRecurrenceNotFound) {
					return err
				}
				switch {
				case !cmd.Flags().Changed("as-version"):
					version = stored.Version
				case version < stored.Version:
					return fmt.Errorf("%s is defined with version %d: use --as-version %d or a higher one", args[0], stored.Version,
						stored.Version)
				}
				options = append(options, assign.RecurVersion(version))
				if err := assign.Recur(ctx, c, kind, args[0], args[2], data, options...); err != nil {
					return err
				}
				return t.printDone(cmd, args[0], args[0]+" recurs")
			})
		},
	}
	s.flags(cmd)
	t.keyFlag(cmd)
	f := cmd.Flags()
	cli.IntFlag(cmd, &version, "as-version", 0, math.MaxInt32,
		"version of the definition (default: that of the stored one)")
	f.StringVar(&zone, "zone", "UTC", "time zone of the schedule")
	cli.ChoiceFlag(cmd, &catchUp, "catch-up", string(assign.CatchUpLatest),
		fmt.Sprintf("which ticks to fire that passed while no scheduler led: %s, %s or %s", assign.CatchUpLatest,
			assign.CatchUpAll, assign.CatchUpSkip),
		string(assign.CatchUpLatest), string(assign.CatchUpAll), string(assign.CatchUpSkip))
	cli.ChoiceFlag(cmd, &overlap, "overlap", string(assign.OverlapAllow),
		fmt.Sprintf("what becomes of a tick while the task of an earlier one is open: %s, %s, %s or %s",
			assign.OverlapAllow, assign.OverlapSkip, assign.OverlapQueue, assign.OverlapCancelRunning),
		string(assign.OverlapAllow), string(assign.OverlapSkip), string(assign.OverlapQueue),
		string(assign.OverlapCancelRunning))
	cli.DurationFlag(cmd, &window, "catch-up-window", 0, 0,
		"how late a tick may be fired with --catch-up skip (0: 1m)")
	return cmd
}

func cronRemove(t *scope) *cobra.Command {
	return t.nameCommand("rm NAME", "Stop a recurring task; tasks that were submitted continue",
		"  rolectl tasks cron rm -n jobs nightly", t.completeRecurrences(func(assign.Recurrence) bool { return true }),
		func(ctx context.Context, c *assign.Client, name string) (string, error) {
			return name + " no longer recurs", assign.RemoveRecurrence(ctx, c, name)
		})
}
