package tasks

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
)

// completeNamespaces offers the namespaces of the server.
func (t *scope) completeNamespaces(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return t.CompleteLive(func(ctx context.Context, nc *nats.Conn) ([]string, error) {
		return cli.StreamNames(ctx, nc, t.Reach(), inventory.TaskStreamPrefix)
	})
}

// completeNames offers names that a client finds, for the argument at a position.
func (t *scope) completeNames(position int,
	names func(ctx context.Context, c *assign.Client, typed string) ([]string, error),
) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != position {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return t.CompleteLive(func(ctx context.Context, nc *nats.Conn) ([]string, error) {
			c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: t.namespace})
			if err != nil {
				return nil, err
			}
			defer c.Close()
			return names(ctx, c, typed)
		})
	}
}

// manyCompletions bounds the number of tasks that are offered.
const manyCompletions = 100

// completeTasks offers tasks in some states. Without a scheduler it still offers tasks that have
// ended.
func (t *scope) completeTasks(states ...assign.State) cobra.CompletionFunc {
	return t.completeNames(0, func(ctx context.Context, c *assign.Client, typed string) (ids []string, err error) {
		found, _, err := listTasks(ctx, c, assign.ListOptions{States: states, Prefix: typed}, manyCompletions)
		if errors.Is(err, assign.ErrNoScheduler) && len(states) == 0 {
			found, _, err = listTasks(ctx, c, assign.ListOptions{States: endedStates, Prefix: typed}, manyCompletions)
		}
		for _, s := range found {
			ids = append(ids, s.ID)
		}
		return ids, err
	})
}

// completeKinds offers kinds that the scheduler knows.
func (t *scope) completeKinds(position int, which func(k knownKind) bool) cobra.CompletionFunc {
	return t.completeNames(position, func(ctx context.Context, c *assign.Client, _ string) (names []string, err error) {
		o, err := assign.GetOverview(ctx, c)
		for _, k := range knownKinds(o) {
			if which(k) {
				names = append(names, k.name)
			}
		}
		return names, err
	})
}

// completeWorkers offers the names of some workers.
func (t *scope) completeWorkers(which func(assign.WorkerOverview) bool) cobra.CompletionFunc {
	return t.completeNames(0, func(ctx context.Context, c *assign.Client, _ string) (names []string, err error) {
		o, err := assign.GetOverview(ctx, c)
		for _, w := range o.Workers {
			if which(w) {
				names = append(names, w.Instance)
			}
		}
		return names, err
	})
}

// completeRecurrences offers the names of some recurring tasks.
func (t *scope) completeRecurrences(which func(assign.Recurrence) bool) cobra.CompletionFunc {
	return t.completeNames(0, func(ctx context.Context, c *assign.Client, typed string) (names []string, err error) {
		found, _, err := listRecurrences(ctx, c, assign.RecurrenceListOptions{Prefix: typed}, manyCompletions)
		for _, r := range found {
			if which(r) {
				names = append(names, r.Name)
			}
		}
		return names, err
	})
}
