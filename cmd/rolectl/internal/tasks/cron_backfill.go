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
	"github.com/rolemanager/rolemanager/internal/wording"
)

func cronBackfill(t *scope) *cobra.Command {
	var from, to string
	limit, dry := 1000, false
	cmd := t.nameCommand("backfill NAME", "Submit the tasks of past ticks of a recurring task",
		`  rolectl tasks cron backfill -n jobs nightly --from 2026-01-01T00:00:00Z --to 2026-01-07T00:00:00Z --dry-run
  rolectl tasks cron backfill -n jobs nightly --from 48h`,
		t.completeRecurrences(func(assign.Recurrence) bool { return true }), nil)
	cmd.Long = `Submit the tasks of past ticks of a recurring task: those that were dropped, skipped, fell into a pause, or lie before the
definition. The command may be given again: a tick whose task is open, or whose outcome is kept, is not submitted again. Ticks
that the scheduler may still submit are left to it.

Of more than --limit ticks the command submits the first, and prints with which --from it continues.`
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o := assign.BackfillOptions{Limit: limit, DryRun: dry, To: time.Now()}
		if from == "" {
			return cli.UsageError(errors.New("--from is missing"))
		}
		var err error
		if o.From, err = moment("from", from); err != nil {
			return err
		}
		if to != "" {
			if o.To, err = moment("to", to); err != nil {
				return err
			}
		}
		return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
			b, err := assign.BackfillRecurrence(ctx, c, args[0], o)
			return errors.Join(err, t.backfilled(args[0], &b, &o))
		})
	}
	const when = ": an age such as 48h, or a time such as 2026-01-02T15:04:05Z"
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "the first moment"+when)
	f.StringVar(&to, "to", "", "the last moment (default: now)"+when)
	cli.IntFlag(cmd, &limit, "limit", 1, 1000, "how many ticks at most")
	f.BoolVar(&dry, "dry-run", false, "only say what would be submitted")
	return cmd
}

// backfilled prints what became of past ticks.
func (t *scope) backfilled(name string, b *assign.BackfillResult, o *assign.BackfillOptions) error {
	p := t.Printer()
	if p.Format == "json" {
		return p.JSON(struct {
			show.Document
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			DryRun    bool   `json:"dry_run,omitempty"`
			assign.BackfillResult
		}{show.Of("backfill"), t.namespace, name, o.DryRun, *b})
	}
	for _, id := range b.Submitted {
		if _, err := fmt.Fprintln(p.W, id); err != nil {
			return err
		}
	}
	if p.Format == "name" {
		return nil
	}
	if n := len(b.Existing); n > 0 {
		t.Say("%s already there", wording.Count(n, "task"))
	}
	if b.Until.Before(o.To) && !b.Until.IsZero() {
		t.Say("ticks after %s are left to the scheduler", b.Until.UTC().Format(time.RFC3339))
	}
	if !b.Next.IsZero() {
		t.Say("there are more: continue with --from %s", b.Next.UTC().Format(time.RFC3339))
	}
	return nil
}
