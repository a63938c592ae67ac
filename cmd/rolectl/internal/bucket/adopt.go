package bucket

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/adoption"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// adoptedDocument is the JSON document of an adoption.
type adoptedDocument struct {
	show.Document
	Bucket  string  `json:"bucket"`
	DryRun  bool    `json:"dry_run"`
	ID      string  `json:"id,omitempty"`
	Floor   uint64  `json:"floor,omitempty"`
	Revoked int     `json:"revoked"`
	Waited  float64 `json:"waited_seconds"`
}

func adoptCommand(a *cli.App) *cobra.Command {
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use: "adopt NAME", Short: "Make a copy of a bucket a bucket of its own; every session ends",
		Long: `Make a copy of a bucket (a promoted mirror, a restored backup) a bucket of its own. Run it after each rollback of a
disk or a virtual machine too: epochs that were given since are not in the copy. To restore a backup, use
"rolectl bucket restore" instead: it lets nobody lead before.

Every session of the bucket ends, every record goes, and epochs continue above all that were ever given. The
bucket gets a new id, and nobody opens it meanwhile. That takes the longest TTL that the bucket allows (2 min by
default). If it is interrupted, run it again. --dry-run changes nothing, and says what would be done.`,
		Example: "  rolectl bucket adopt roles --dry-run\n  rolectl bucket adopt roles --yes", Args: cli.CheckArgs,
		ValidArgsFunction: a.CompleteBuckets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckBucketName(args[0]); err != nil {
				return cli.UsageError(err)
			}
			if dryRun {
				return a.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
					return foreseeAdoption(ctx, a, nc, args[0])
				})
			}
			question := fmt.Sprintf("Every session of bucket %s ends, and every record goes. Adopt it?", args[0])
			if err := a.Confirm(cmd.Context(), yes, question); err != nil {
				return err
			}
			return a.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				return adopt(cmd.Context(), a, nc, args[0])
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing; say what would be done")
	return cmd
}

// firstRoles says what is still waited for when the bucket has been adopted.
func firstRoles(longest time.Duration) string {
	return fmt.Sprintf("; a process takes roles that have no record %v after it has started, here for good", longest)
}

// sayStep says which step comes next, after the first one: that shows whether the bucket is
// reached.
func sayStep(a *cli.App, name string, first adoption.Step) func(adoption.Step) error {
	return func(s adoption.Step) error {
		if s > first {
			a.Say("bucket %s: %s", name, s)
		}
		return nil
	}
}

// foreseeAdoption says what adopt would do.
func foreseeAdoption(ctx context.Context, a *cli.App, nc *nats.Conn, name string) error {
	longest, err := a.Reach().Owner(nc, name).Adoptable(ctx)
	if err != nil {
		return cli.BucketError(err)
	}
	state, err := a.Reach().Inspect(ctx, nc, name)
	if err != nil {
		return cli.BucketError(err)
	}
	text := fmt.Sprintf("bucket %s, which is followed by %s, would be adopted: every session would end, and %s would go. "+
		"That takes %v, and roles are led again as long after that", name,
		wording.Count(uint64(max(state.Watchers, 0)), "watcher"), wording.Count(state.Keys, "record"), longest)
	d := adoptedDocument{Document: show.Of("bucket_adopted"), Bucket: name, DryRun: true, Waited: show.Seconds(longest)}
	return printAdopted(a, d, text)
}

// adopt takes longer than other commands: ctx has no deadline.
func adopt(ctx context.Context, a *cli.App, nc *nats.Conn, name string) error {
	done, err := adoption.Run(ctx, adoption.Config{
		Conn: nc, Reach: a.Reach(), Bucket: name,
		Before: sayStep(a, name, adoption.Mark),
	})
	if err != nil {
		return cli.BucketError(err)
	}
	i := done.Identity
	d := adoptedDocument{
		show.Of("bucket_adopted"), name, false, i.ID, done.Floor, done.Revoked, show.Seconds(done.Waited),
	}
	return printAdopted(a, d, fmt.Sprintf("bucket %s is a bucket of its own now: id %s, first revision %d, %s ended",
		name, i.ID, done.Floor, wording.Count(uint64(done.Revoked), "session"))+firstRoles(done.Waited))
}

func printAdopted(a *cli.App, d adoptedDocument, text string) error {
	p := a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(d)
	case "name":
		text = d.Bucket
	}
	_, err := fmt.Fprintln(p.W, wording.Clean(text))
	return err
}
