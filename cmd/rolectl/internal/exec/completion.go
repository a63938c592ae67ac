package exec

import (
	"context"
	"os"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// completeInstance offers names for --instance: those of ended sessions in the bucket, and the name
// of this machine. The name of a live session would be refused.
func completeInstance(a *cli.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.CompleteLive(func(ctx context.Context, nc *nats.Conn) (names []string, err error) {
			l, err := inventory.OpenRecords(ctx, nc, a.Reach(), a.Bucket, false, nil)
			if err != nil {
				return nil, err
			}
			defer l.Close()
			alive := map[string]bool{}
			for _, r := range l.All() {
				if r.Kind != record.KindLease || r.Form != record.FormRecord {
					continue
				}
				names = append(names, r.Peer.Instance)
				alive[r.Peer.Instance] = r.Lease.Alive()
			}
			if host, err := os.Hostname(); err == nil {
				names = append(names, host)
			}
			return slices.DeleteFunc(names, func(name string) bool { return alive[name] }), nil
		})
	}
}
