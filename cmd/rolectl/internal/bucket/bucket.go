package bucket

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Command is the command "rolectl bucket".
func Command(a *cli.App) *cobra.Command {
	cmd := cli.Group("bucket", "List, create, check, adopt, restore and move buckets of roles")
	cmd.AddCommand(createCommand(a), checkCommand(a), idCommand(a), adoptCommand(a), restoreCommand(a),
		moveCommand(a), listCommand(a))
	return cmd
}

// bucketDocument is the JSON document of a bucket.
type bucketDocument struct {
	show.Document
	Bucket   string   `json:"bucket"`
	Fit      bool     `json:"fit"`
	Created  bool     `json:"created,omitempty"` // by this command
	Replicas int      `json:"replicas,omitempty"`
	MaxTTL   float64  `json:"max_ttl_seconds,omitempty"`
	Faults   []string `json:"faults,omitempty"`
	Repaired []string `json:"repaired,omitempty"`
}

func describe(b *natskv.Bucket) bucketDocument {
	return bucketDocument{
		Document: show.Of("bucket"), Bucket: b.Name(), Fit: true, Replicas: b.Replicas(),
		MaxTTL: show.Seconds(b.MaxTTL()),
	}
}

func printBucket(a *cli.App, d bucketDocument, text string) error {
	p := a.Printer()
	switch p.Format {
	case "json":
		return p.JSON(d)
	case "name":
		text = d.Bucket
	}
	_, err := fmt.Fprintln(p.W, wording.CleanLines(text))
	return err
}
