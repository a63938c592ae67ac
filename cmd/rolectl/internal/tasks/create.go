package tasks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/dryrun"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func createCommand(t *scope) *cobra.Command {
	var replicas int
	var storage string
	var maxBytes int64
	var keep time.Duration
	var dryRun bool
	cmd := &cobra.Command{
		Use: "create [NAMESPACE]", Short: "Create a namespace of tasks; an existing namespace is checked and left as it is",
		Long: `Create a namespace of tasks: the stream that keeps submissions and outcomes, and the object store that keeps outputs above
64 KiB. An existing stream or store is checked and left as it is. Without NAMESPACE the command uses --namespace. Programs
with StreamAutoCreate create both by themselves.`,
		Example: "  rolectl tasks create jobs --replicas 3\n  rolectl tasks create jobs --dry-run   # print it as commands " +
			"of the nats tool",
		Args: cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := t.Settings.Resolve()
			if err != nil {
				return cli.UsageError(err)
			}
			cfg := assign.ClientConfig{
				Namespace: t.namespace, Domain: target.Domain, APIPrefix: target.APIPrefix, StreamAutoCreate: true,
				Replicas: replicas, Storage: cli.StorageType(storage), MaxBytes: maxBytes, LargeRetention: keep,
			}
			if len(args) > 0 {
				cfg.Namespace = args[0]
			}
			if cfg.Namespace == "" {
				return cli.UsageError(fmt.Errorf("NAMESPACE is missing: %s", cli.Synopsis(cmd)))
			}
			stream := func(ctx context.Context, nc *nats.Conn) error { return inventory.CreateTasks(ctx, nc, cfg) }
			var objects assign.Objects
			store := func(ctx context.Context, nc *nats.Conn) (err error) {
				objects, err = assign.CreateObjects(ctx, nc, inventory.Placed(ctx, nc, cfg))
				return err
			}
			if dryRun {
				return dryrun.Print(t.App, cmd, cfg.Namespace, stream, store)
			}
			return t.WithServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				names, err := cli.StreamNames(ctx, nc, t.Reach(), inventory.TaskStreamPrefix)
				existed := err != nil || slices.Contains(names, cfg.Namespace) // without the right to look it is as before
				for _, create := range []dryrun.Creation{stream, store} {
					if err := create(ctx, nc); err != nil {
						return exitFor(cli.PlacementError(err, replicas))
					}
				}
				if cmd.Flags().Changed("large-retention") && objects.Retention != keep {
					t.Say("object store %s exists, keeps outputs for %v, and is not changed", objects.Name, objects.Retention)
				}
				return t.printNamespace(ctx, nc, cfg.Namespace, objects, changed(cmd, "replicas", replicas), !existed)
			})
		},
	}
	cli.ReplicasFlag(cmd, &replicas)
	cli.StorageFlag(cmd, &storage)
	cli.MaxBytesFlag(cmd, &maxBytes)
	cli.DurationFlag(cmd, &keep, "large-retention", time.Second, 0, "how long outputs above 64 KiB are kept (default 24h)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the equivalent commands of the nats tool, and create nothing")
	return cmd
}

// objectsDoc is an object store in the JSON document of a namespace.
type objectsDoc struct {
	Name      string  `json:"name"`
	Retention float64 `json:"retention_seconds"` // 0 for ever
	Replicas  int     `json:"replicas"`
	Storage   string  `json:"storage"`
}

// changed returns the value of a flag if the user has given it, else 0.
func changed(cmd *cobra.Command, flag string, value int) int {
	if !cmd.Flags().Changed(flag) {
		return 0
	}
	return value
}

// printNamespace prints how a namespace is kept, with a note if its replicas differ from the
// requested ones (0: none requested).
func (t *scope) printNamespace(ctx context.Context, nc *nats.Conn, namespace string, o assign.Objects,
	replicas int, created bool,
) error {
	js, err := t.Reach().JetStream(nc)
	if err != nil {
		return err
	}
	s, err := js.Stream(ctx, inventory.TaskStreamPrefix+namespace)
	if err != nil {
		return fmt.Errorf("ask for stream %s%s: %w", inventory.TaskStreamPrefix, namespace, err)
	}
	how := s.CachedInfo().Config
	for _, has := range []struct {
		stream   string
		replicas int
	}{{how.Name, how.Replicas}, {o.Name, o.Replicas}} {
		if replicas != 0 && has.replicas != replicas {
			t.Say("stream %s exists with replicas %d and is not changed: use nats stream edit %[1]s --replicas %[3]d",
				has.stream, has.replicas, replicas)
		}
	}
	p := t.Printer()
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Namespace string     `json:"namespace"`
			Stream    string     `json:"stream"`
			Replicas  int        `json:"replicas"`
			Storage   string     `json:"storage"`
			Objects   objectsDoc `json:"objects"`
			Created   bool       `json:"created,omitempty"` // by this command
		}{
			show.Of("namespace"), namespace, how.Name, how.Replicas, storageName(how.Storage),
			objectsDoc{o.Name, show.Seconds(o.Retention), o.Replicas, storageName(o.Storage)},
			created,
		})
	case "name":
		_, err = fmt.Fprintln(p.W, namespace)
	default:
		kept := "for ever"
		if o.Retention > 0 {
			kept = "for " + wording.Age(o.Retention)
		}
		is := "exists and is fit"
		if created {
			is = "is created"
		}
		_, err = fmt.Fprintf(p.W,
			"namespace %s %s: stream %s, replicas %d, %s storage\n"+
				"outputs above 64 KiB: object store %s, replicas %d, %s storage, kept %s\n",
			namespace, is, how.Name, how.Replicas, storageName(how.Storage), o.Name, o.Replicas, storageName(o.Storage), kept)
	}
	return err
}

func storageName(s jetstream.StorageType) string {
	if s == jetstream.MemoryStorage {
		return "memory"
	}
	return "file"
}
