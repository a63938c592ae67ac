package bucket

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// listed is a bucket in the JSON document of all.
type listed struct {
	Bucket   string `json:"bucket"`
	Fit      bool   `json:"fit"`
	Records  uint64 `json:"records"`
	Replicas int    `json:"replicas"`
}

func listCommand(a *cli.App) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "ls", Short: "List the buckets of roles on this server",
		Long: `List the buckets of roles that this account has in this JetStream. --others also lists key-value buckets that keep other data,
such as fenced stores.`,
		Example: "  rolectl bucket ls\n  rolectl bucket ls --others -o json", Args: cli.CheckArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				found, err := list(ctx, a, nc, all)
				if err != nil {
					return err
				}
				return a.Printer().Print(listTable(found))
			})
		},
	}
	cmd.Flags().BoolVar(&all, "others", false, "also key-value buckets that keep other data")
	return cmd
}

func list(ctx context.Context, a *cli.App, nc *nats.Conn, all bool) ([]listed, error) {
	names, err := cli.StreamNames(ctx, nc, a.Reach(), "KV_")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	found := []listed{}
	for _, name := range names {
		state, err := a.Reach().Inspect(ctx, nc, name)
		switch {
		case errors.Is(err, natskv.ErrBucketNotFound): // it has just been removed
		case err != nil:
			return nil, err
		case all || !state.Ordinary:
			found = append(found, listed{name, len(state.Faults) == 0 && !state.Ordinary, state.Keys, state.Replicas})
		}
	}
	return found, nil
}

func listTable(found []listed) show.Table {
	t := show.Table{
		Columns: []string{"BUCKET", "STATE", "RECORDS", "REPLICAS"}, Names: []string{"BUCKET"},
		Empty: "there is no bucket of roles here",
		JSON: struct {
			show.Document
			Buckets []listed `json:"buckets"`
		}{show.Of("buckets"), found},
	}
	for _, b := range found {
		state := "fit"
		if !b.Fit {
			state = "unfit"
		}
		t.Rows = append(t.Rows, show.Row{
			Name: b.Bucket, Cells: []string{b.Bucket, state, fmt.Sprint(b.Records), fmt.Sprint(b.Replicas)},
		})
	}
	return t
}
