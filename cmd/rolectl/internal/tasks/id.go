package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// namespaceIdentity is the JSON document of a namespace's identity.
type namespaceIdentity struct {
	show.Document
	Namespace string    `json:"namespace"`
	ID        string    `json:"id"`
	Domain    string    `json:"domain,omitempty"`
	Cluster   string    `json:"cluster,omitempty"`
	Created   time.Time `json:"created"`
}

func idCommand(t *scope) *cobra.Command {
	return &cobra.Command{
		Use: "id", Short: "Print the id of the namespace's stream, which StreamID pins; -o wide prints where it is",
		Example: "  rolectl tasks id -n jobs\n  rolectl tasks id -n jobs --js-domain hub -o json",
		Args:    cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.namespace == "" {
				return cli.ErrNoNamespace
			}
			return t.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				i, err := t.Reach().StreamIdentity(ctx, nc, inventory.TaskStreamPrefix+t.namespace)
				if errors.Is(err, natskv.ErrBucketNotFound) {
					return t.missing(ctx, nc, err)
				}
				if err != nil {
					return err
				}
				p := t.Printer()
				text := i.ID
				switch p.Format {
				case "json":
					return p.JSON(namespaceIdentity{show.Of("namespace_id"), t.namespace, i.ID, i.Domain, i.Cluster, i.Created})
				case "wide":
					text = i.String()
				}
				_, err = fmt.Fprintln(p.W, wording.Clean(text))
				return err
			})
		},
	}
}
