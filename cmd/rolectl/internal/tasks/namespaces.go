package tasks

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func namespacesCommand(t *scope) *cobra.Command {
	return &cobra.Command{
		Use: "namespaces", Short: "List the namespaces of tasks on this server",
		Long:    `List the namespaces of tasks that this account has in this JetStream.`,
		Example: "  rolectl tasks namespaces\n  rolectl tasks namespaces -o json", Args: cli.CheckArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				names, err := cli.StreamNames(ctx, nc, t.Reach(), inventory.TaskStreamPrefix)
				if err != nil {
					return err
				}
				slices.Sort(names)
				table := show.Table{
					Columns: []string{"NAMESPACE"}, Names: []string{"NAMESPACE"}, Empty: "there is no namespace of tasks here",
					JSON: struct {
						show.Document
						Namespaces []string `json:"namespaces"`
					}{show.Of("namespaces"), append([]string{}, names...)},
				}
				for _, name := range names {
					table.Rows = append(table.Rows, show.Row{Name: name, Cells: []string{name}})
				}
				return t.Printer().Print(table)
			})
		},
	}
}
