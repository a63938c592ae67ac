package bucket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/dryrun"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

func createCommand(a *cli.App) *cobra.Command {
	var replicas int
	var storage string
	var maxBytes int64
	var maxTTL time.Duration
	var place natskv.Place
	var dryRun bool
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a bucket; an existing bucket is checked and left as it is",
		Example: "  rolectl bucket create roles --replicas 3\n  rolectl bucket create roles --dry-run   # print it as " +
			"a command of the nats tool",
		Args: cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckBucketName(args[0]); err != nil {
				return cli.UsageError(err)
			}
			target, err := a.Settings.Resolve()
			if err != nil {
				return cli.UsageError(err)
			}
			cfg := natskv.Config{
				Bucket: args[0], Replicas: replicas, MaxTTL: maxTTL, MaxBytes: maxBytes,
				Storage: cli.StorageType(storage), Place: place, Reach: target.Reach,
			}
			if dryRun {
				return dryrun.Print(a, cmd, args[0], func(ctx context.Context, nc *nats.Conn) error {
					_, err := natskv.Create(ctx, nc, cfg)
					return err
				})
			}
			return a.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				_, missing := a.Reach().Inspect(ctx, nc, args[0])
				b, err := natskv.Create(ctx, nc, cfg)
				if err != nil {
					return cli.BucketError(cli.PlacementError(err, replicas))
				}
				if cmd.Flags().Changed("replicas") && b.Replicas() != replicas {
					a.Say("bucket %s exists with replicas %d and is not changed: use nats stream edit KV_%[1]s --replicas %[3]d",
						b.Name(), b.Replicas(), replicas)
				}
				if cmd.Flags().Changed("max-ttl") && b.MaxTTL() != maxTTL {
					a.Say("bucket %s exists with a TTL of at most %v and is not changed: create another bucket for %v", b.Name(),
						b.MaxTTL(), maxTTL)
				}
				d, is := describe(b), "exists and is fit"
				if d.Created = errors.Is(missing, natskv.ErrBucketNotFound); d.Created {
					is = "is created"
				}
				return printBucket(a, d, fmt.Sprintf("bucket %s %s: replicas %d, TTL at most %v", b.Name(), is, b.Replicas(),
					b.MaxTTL()))
			})
		},
	}
	cli.ReplicasFlag(cmd, &replicas)
	placeFlags(cmd, &place)
	cli.StorageFlag(cmd, &storage)
	cli.MaxBytesFlag(cmd, &maxBytes)
	cli.DurationFlag(cmd, &maxTTL, "max-ttl", time.Second, natskv.DefaultMaxTTL, "the longest TTL that a session may have")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the equivalent command of the nats tool, and create nothing")
	return cmd
}
