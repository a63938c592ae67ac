package bucket

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/adoption"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// restoredDocument is the JSON document of a restoration.
type restoredDocument struct {
	show.Document
	Bucket  string  `json:"bucket"`
	Created bool    `json:"created"` // with --dry-run: whether it would be
	DryRun  bool    `json:"dry_run"`
	ID      string  `json:"id,omitempty"`
	Floor   uint64  `json:"floor,omitempty"`
	Revoked int     `json:"revoked"`
	Waited  float64 `json:"waited_seconds"`
}

func restoreCommand(a *cli.App) *cobra.Command {
	var yes, dryRun, force bool
	cmd := &cobra.Command{
		Use: "restore NAME DIRECTORY", Short: "Restore a bucket that was lost, from a backup; no epoch comes twice",
		Long: `Restore a bucket from the directory that "nats stream backup" has written. Use it instead of "nats stream restore",
which brings old leases and roles back: a connected process could lead by them, at an epoch that was given before.

A bucket that is missing is created with the configuration of the backup. It is marked from its first moment on, and
nobody opens it. One that is there keeps its configuration. Then the bucket is adopted: every session ends, every record
goes, and epochs continue above all that were given before and after the backup. No record of the backup is brought back,
also none of your programs: what it says about leaders is no longer true.

That takes the longest TTL that the bucket allows (2 min by default), and roles are led again as long after that. A bucket
that is there and followed is refused without --force. If it is interrupted, run it again. --dry-run
changes nothing, and says what would be done.`,
		Example: "  nats stream backup KV_roles ./backup\n  rolectl bucket restore roles ./backup --dry-run\n" +
			"  rolectl bucket restore roles ./backup --yes",
		Args: cli.CheckArgs, ValidArgsFunction: completeRestore(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if err := cli.CheckBucketName(name); err != nil {
				return cli.UsageError(err)
			}
			b, err := readBackup(name, args[1])
			if err != nil {
				return err
			}
			return a.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				if dryRun {
					return foresee(ctx, a, nc, name, b)
				}
				there, err := checkLost(ctx, a, nc, name, force)
				if err != nil {
					return err
				}
				question := fmt.Sprintf("%sEvery session of bucket %s ends, and every record goes. That takes %v, and roles are "+
					"led again as long after that. Restore it?", there, name, b.MaxTTL())
				if err := a.Confirm(cmd.Context(), yes, question); err != nil {
					return err
				}
				return restore(cmd.Context(), a, nc, name, b) // longer than other commands: without a deadline
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask; needed without a terminal")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing; say what would be done")
	cmd.Flags().BoolVar(&force, "force", false, "also a bucket that is there and that processes or people follow")
	return cmd
}

// checkLost refuses to restore a bucket that was not lost: it is there, and somebody follows it. It
// says what is there. One whose restoration was interrupted is restored again.
func checkLost(ctx context.Context, a *cli.App, nc *nats.Conn, name string, forced bool) (there string, err error) {
	state, err := a.Reach().Inspect(ctx, nc, name)
	switch {
	case errors.Is(err, natskv.ErrBucketNotFound) || err == nil && errors.Is(state.Copied, natskv.ErrAdopting):
		return "", nil
	case err != nil: // so nobody can say whether it was lost
		return "", cli.BucketError(err)
	}
	there = fmt.Sprintf("Bucket %s is there, with %s, and followed by %s. ", name, wording.Count(state.Keys, "record"),
		wording.Count(uint64(state.Watchers), "watcher"))
	if state.Watchers > 0 && !forced {
		return "", cli.ExitWith(cli.ExitFailed, fmt.Errorf("%sA bucket is restored when it was lost: give --force to end "+
			"all its sessions", there))
	}
	return there, nil
}

// completeRestore offers the buckets, then the directories.
func completeRestore(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return a.CompleteBuckets(cmd, args, typed)
	}
}

// readBackup reads what a backup says about the bucket.
func readBackup(name, directory string) (*natskv.Backup, error) {
	data, err := os.ReadFile(filepath.Join(directory, "backup.json"))
	if errors.Is(err, os.ErrNotExist) {
		err = &natskv.NoBackupError{Bucket: name, Reason: fmt.Sprintf("%s has no backup.json: give a directory that "+
			"\"nats stream backup KV_%s\" has written", directory, name)}
	}
	if err != nil {
		return nil, cli.ExitWith(cli.ExitFailed, err)
	}
	b, err := natskv.ReadBackup(name, data)
	if err != nil {
		return nil, cli.BucketError(err)
	}
	return b, nil
}

// foresee says what restore would do.
func foresee(ctx context.Context, a *cli.App, nc *nats.Conn, name string, b *natskv.Backup) error {
	state, err := a.Reach().Inspect(ctx, nc, name)
	d := restoredDocument{
		Document: show.Of("bucket_restored"), Bucket: name, DryRun: true, Waited: show.Seconds(b.MaxTTL()),
	}
	text := fmt.Sprintf("bucket %s exists: it would keep its configuration, every session would end, and %s would go",
		name, wording.Count(state.Keys, "record"))
	switch {
	case errors.Is(err, natskv.ErrBucketNotFound):
		d.Created = true
		text = fmt.Sprintf("bucket %s would be created: replicas %d, %s storage, TTL at most %v", name, b.Replicas(),
			strings.ToLower(b.Storage().String()), b.MaxTTL())
	case err == nil && state.Ordinary: // as restore would find
		_, err = a.Reach().Open(ctx, nc, name)
	}
	if err != nil && !d.Created {
		return cli.BucketError(err)
	}
	return printRestored(a, d, text+"; that takes "+b.MaxTTL().Round(time.Second).String())
}

func restore(ctx context.Context, a *cli.App, nc *nats.Conn, name string, b *natskv.Backup) error {
	done, err := adoption.Run(ctx, adoption.Config{
		Conn: nc, Reach: a.Reach(), Bucket: name, Backup: b, Before: sayStep(a, name, adoption.Remake),
	})
	if err != nil {
		return cli.BucketError(cli.PlacementError(err, b.Replicas()))
	}
	what := "exists, and keeps its configuration"
	if done.Remade {
		what = "is restored"
	}
	d := restoredDocument{
		show.Of("bucket_restored"), name, done.Remade, false, done.Identity.ID, done.Floor, done.Revoked,
		show.Seconds(done.Waited),
	}
	return printRestored(a, d, fmt.Sprintf("bucket %s %s: id %s, first revision %d, %s ended", name, what, d.ID, d.Floor,
		wording.Count(uint64(d.Revoked), "session"))+firstRoles(done.Waited))
}

func printRestored(a *cli.App, d restoredDocument, text string) error {
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
