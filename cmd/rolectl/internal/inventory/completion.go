package inventory

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
)

// CompleteObserved offers names that an observer of the bucket finds.
func CompleteObserved(a *cli.App, names func(o *election.Observer) []string) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	return a.CompleteLive(func(ctx context.Context, nc *nats.Conn) ([]string, error) {
		o, err := election.Observe(ctx, nc, a.Bucket, Reaching(a)...)
		if err != nil {
			return nil, err
		}
		defer o.Close()
		return names(o), nil
	})
}

// CompleteRoles offers the roles of the bucket for the first most arguments (-1: for all), each
// role once.
func CompleteRoles(a *cli.App, most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most >= 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return CompleteObserved(a, func(o *election.Observer) (names []string) {
			for _, r := range o.Roles() {
				if !slices.Contains(args, r.Role) {
					names = append(names, r.Role)
				}
			}
			return names
		})
	}
}
