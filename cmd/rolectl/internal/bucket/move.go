package bucket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// moveWithin is how long a move may take by default.
const moveWithin = time.Minute

func moveCommand(a *cli.App) *cobra.Command {
	var to natskv.Place
	var here bool
	var within time.Duration
	cmd := &cobra.Command{
		Use:   "move NAME",
		Short: "Move a bucket to another cluster while it is used; sessions keep their terms",
		Long: `Move a bucket to another cluster of a supercluster, or to servers with other tags, while it is used.
Sessions keep their terms, and revisions continue.

With --here the bucket stays, and its identity is written again for the place where it is: after its servers were
given a JetStream domain or another cluster name, or after it was moved with another tool. A copy is refused.`,
		Example: "  rolectl bucket move roles --cluster east\n  rolectl bucket move roles --here", Args: cli.CheckArgs,
		ValidArgsFunction: a.CompleteBuckets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckBucketName(args[0]); err != nil {
				return cli.UsageError(err)
			}
			placed := to.Cluster != "" || len(to.Tags) > 0
			if placed == here {
				return cli.UsageError(errors.New("give either --cluster and --tag, or --here"))
			}
			return a.WithServer(cmd, func(_ context.Context, nc *nats.Conn) error {
				ctx, cancel := context.WithTimeout(cmd.Context(), within)
				defer cancel()
				owner := a.Reach().Owner(nc, args[0])
				move := owner.Here
				if placed {
					move = func(ctx context.Context) (natskv.Identity, error) { return owner.Move(ctx, to) }
				}
				i, err := move(ctx)
				if err != nil {
					return cli.BucketError(err)
				}
				return printIdentity(a, args[0], i, fmt.Sprintf("bucket %s is here: %s", args[0], i))
			})
		},
	}
	placeFlags(cmd, &to)
	cmd.Flags().BoolVar(&here, "here", false, "move nothing, and write the identity for the place where the bucket is")
	cli.DurationFlag(cmd, &within, "within", time.Second, moveWithin, "how long the move may take")
	return cmd
}

// placeFlags are the flags that say which servers keep a bucket.
func placeFlags(cmd *cobra.Command, to *natskv.Place) {
	cmd.Flags().StringVar(&to.Cluster, "cluster", "", "the cluster that keeps it (default: that of the connected server)")
	cmd.Flags().StringSliceVar(&to.Tags, "tag", nil, "a tag that its servers must have; may be repeated")
}

func printIdentity(a *cli.App, name string, i natskv.Identity, text string) error {
	p := a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(identityDocument{show.Of("bucket_id"), name, i.ID, i.Domain, i.Cluster, i.Created})
	case "wide":
		text = i.String()
	case "name":
		text = name
	}
	_, err := fmt.Fprintln(p.W, wording.Clean(text))
	return err
}
