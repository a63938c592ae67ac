package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// tasksPrefix begins the names of the streams that keep tasks.
const tasksPrefix = "TASKS_"

func taskCreate(t *taskApp) *cobra.Command {
	var replicas int
	var storage string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "create [NAMESPACE]", Short: "Make a namespace of tasks; one that is there already is checked and left as it is",
		Long: `Make a namespace of tasks: the stream that keeps submissions and outcomes. One that is there already is checked and left as it
is. Without NAMESPACE it is that of --namespace. Programs whose StreamAutoCreate is set make it by themselves.`,
		Example: "  rolectl tasks create jobs --replicas 3\n  rolectl tasks create jobs --dry-run   # the same as a command of the nats tool",
		Args:    takes, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg := assign.ClientConfig{Namespace: t.namespace, StreamAutoCreate: true, Replicas: replicas, Storage: storageOf(storage)}
			if len(args) > 0 {
				cfg.Namespace = args[0]
			}
			if cfg.Namespace == "" {
				return usage(fmt.Errorf("NAMESPACE is missing: %s", synopsis(cmd)))
			}
			if dryRun {
				return printCreation(cmd, func(ctx context.Context, nc *nats.Conn) error { return createTasks(ctx, nc, cfg) })
			}
			return t.onServer(cmd, func(ctx context.Context, nc *nats.Conn) error {
				if err := createTasks(ctx, nc, cfg); err != nil {
					return taskFault(unplaced(err, replicas))
				}
				return t.printNamespace(ctx, nc, cfg.Namespace)
			})
		},
	}
	replicasFlag(cmd, &replicas)
	storageFlag(cmd, &storage)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the equivalent command of the nats tool, and make nothing")
	return cmd
}

// createTasks makes the stream of a namespace, or opens the one that is there: a client does so with its first question.
func createTasks(ctx context.Context, nc *nats.Conn, cfg assign.ClientConfig) error {
	c, err := assign.NewClient(nc, cfg)
	if err != nil {
		return usage(err)
	}
	defer c.Close()
	if _, err := assign.Get(ctx, c, "rolectl"); err != nil && !errors.Is(err, assign.ErrTaskNotFound) {
		return err
	}
	return nil
}

// printNamespace says how a namespace is kept.
func (t *taskApp) printNamespace(ctx context.Context, nc *nats.Conn, namespace string) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	s, err := js.Stream(ctx, tasksPrefix+namespace)
	if err != nil {
		return fmt.Errorf("ask for stream %s%s: %w", tasksPrefix, namespace, err)
	}
	how := s.CachedInfo().Config
	p := t.printer()
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Namespace string `json:"namespace"`
			Stream    string `json:"stream"`
			Replicas  int    `json:"replicas"`
			Storage   string `json:"storage"`
		}{show.Of("namespace"), namespace, how.Name, how.Replicas, storageName(how.Storage)})
	case "name":
		_, err = fmt.Fprintln(p.W, namespace)
	default:
		_, err = fmt.Fprintf(p.W, "tasks %s are there and fit: stream %s, replicas %d, %s storage\n", namespace, how.Name, how.Replicas, storageName(how.Storage))
	}
	return err
}

func storageName(s jetstream.StorageType) string {
	if s == jetstream.MemoryStorage {
		return "memory"
	}
	return "file"
}
