package bucket

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// identityDocument is the JSON document of a bucket's identity.
type identityDocument struct {
	show.Document
	Bucket  string    `json:"bucket"`
	ID      string    `json:"id"`
	Domain  string    `json:"domain,omitempty"`
	Cluster string    `json:"cluster,omitempty"`
	Created time.Time `json:"created"`
}

func idCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "id NAME", Short: "Print the id of a bucket, which BucketID pins; -o wide prints where the bucket is",
		Example: "  rolectl bucket id roles\n  rolectl bucket id roles --js-domain hub -o json", Args: cli.CheckArgs,
		ValidArgsFunction: a.CompleteBuckets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckBucketName(args[0]); err != nil {
				return cli.UsageError(err)
			}
			return a.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				b, err := a.Reach().Open(ctx, nc, args[0])
				if err != nil {
					return cli.BucketError(a.Reach().Located(ctx, nc, err))
				}
				return printIdentity(a, b.Name(), b.Identity(), b.Identity().ID)
			})
		},
	}
}
