package bucket

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

func checkCommand(a *cli.App) *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use: "check NAME", Short: "Check whether a bucket is fit for elections; --fix upgrades it in place",
		Example: "  rolectl bucket check roles\n  rolectl bucket check roles --fix", Args: cli.CheckArgs,
		ValidArgsFunction: a.CompleteBuckets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckBucketName(args[0]); err != nil {
				return cli.UsageError(err)
			}
			return a.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				return checkBucket(ctx, a, nc, args[0], fix)
			})
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false,
		"upgrade the bucket in place; one that cannot be upgraded is left as it is")
	return cmd
}

// checkBucket checks a bucket, and repairs it before that if fix is set.
func checkBucket(ctx context.Context, a *cli.App, nc *nats.Conn, name string, fix bool) error {
	var repaired []string
	if fix {
		var err error
		if repaired, err = a.Reach().Repair(ctx, nc, name); err != nil {
			for _, r := range repaired { // the error names the rest
				a.Say("repaired: %s", r)
			}
			if errors.As(err, new(*natskv.UnfitError)) && len(repaired) == 0 && !errors.Is(err, natskv.ErrOrdinary) {
				a.Say("nothing was changed: some faults cannot be repaired in place, and a bucket that would stay unfit is left " +
					"as it is")
			}
			return explainUnfit(a, name, err, repaired)
		}
	}
	b, err := a.Reach().Open(ctx, nc, name)
	if err != nil {
		return explainUnfit(a, name, a.Reach().Located(ctx, nc, err), repaired)
	}
	d := describe(b)
	d.Repaired = repaired
	text := "bucket " + name + " is fit"
	for i := len(repaired) - 1; i >= 0; i-- {
		text = "repaired: " + repaired[i] + "\n" + text
	}
	return printBucket(a, d, text)
}

// explainUnfit is the error of a bucket that cannot be used. Where that is because of how it is
// made, a document says it too.
func explainUnfit(a *cli.App, name string, err error, repaired []string) error {
	var unfit *natskv.UnfitError
	if errors.As(err, &unfit) && a.Format == "json" {
		err = errors.Join(err,
			a.Printer().JSON(bucketDocument{
				Document: show.Of("bucket"), Bucket: name, Faults: unfit.Faults,
				Repaired: repaired,
			}))
	}
	return cli.BucketError(err)
}
