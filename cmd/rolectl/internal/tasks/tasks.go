package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// scope is what the commands about tasks have in common: the namespace.
type scope struct {
	*cli.App
	namespace string
}

func Command(a *cli.App) *cobra.Command {
	t := &scope{App: a}
	cmd := cli.Group("tasks", "See, submit and steer the tasks of a namespace")
	cmd.Aliases = []string{"task"}
	cmd.Long = `See, submit and steer the tasks of a namespace.

Submitting, cancelling, pausing and draining need no scheduler: what is asked for is stored, and takes effect when one leads.
Open tasks are listed by the scheduler; tasks that have ended are read from the stream.`
	cmd.PersistentFlags().StringVarP(&t.namespace, "namespace", "n", os.Getenv("TASKS_NAMESPACE"), "namespace of the tasks (TASKS_NAMESPACE)")
	cmd.AddCommand(
		createCommand(t), listCommand(t), getCommand(t), submitCommand(t), cancelCommand(t), requeueCommand(t), drainCommand(t), pauseCommand(t), resumeCommand(t),
		overviewCommand(t), cronCommand(t),
	)
	cli.CompleteFlagBy(cmd, "namespace", t.completeNamespaces)
	return cmd
}

// withClient runs something over a client, within the time that one question has (0: that of --timeout; negative: no limit).
func (t *scope) withClient(cmd *cobra.Command, within time.Duration, run func(ctx context.Context, c *assign.Client) error) error {
	if t.namespace == "" {
		return cli.UsageError(errors.New("which tasks? give --namespace, or set TASKS_NAMESPACE"))
	}
	nc, err := t.Connect()
	if err != nil {
		return err
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: t.namespace})
	if err != nil {
		return cli.UsageError(err)
	}
	defer c.Close()
	ctx := cmd.Context()
	if within == 0 {
		within = t.Target.Timeout
	}
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	if err = run(ctx, c); errors.Is(err, assign.ErrStreamNotFound) {
		return &reworded{fmt.Sprintf("there are no tasks %s on this server (no stream %s%[1]s): make them with \"rolectl tasks create %[1]s\"", t.namespace, inventory.TaskStreamPrefix), err}
	}
	if errors.Is(err, assign.ErrNoScheduler) && cli.PublishDenied(nc, t.namespace+".ctl") {
		return cli.ExitWith(cli.ExitConnection, fmt.Errorf("%w: to publish to %s.ctl, where the scheduler is asked", cli.ErrDenied, t.namespace))
	}
	return exitFor(err)
}

// exitFor gives errors of package assign their exit codes.
func exitFor(err error) error {
	switch {
	case errors.Is(err, assign.ErrNoScheduler), errors.Is(err, assign.ErrCancelPending):
		return cli.ExitWith(cli.ExitNoLeader, err)
	case errors.Is(err, assign.ErrInvalidID), errors.Is(err, assign.ErrInvalidKind), errors.Is(err, assign.ErrInvalidName),
		errors.Is(err, assign.ErrInvalidOption), errors.Is(err, assign.ErrInvalidSpec):
		return cli.UsageError(err)
	}
	return err
}

// toneOf is how good a state is.
func toneOf(s assign.State) show.Tone {
	switch s {
	case assign.StateDead:
		return show.Bad
	case assign.StateExpired, assign.StateCancelled, assign.StateRetrying:
		return show.Warning
	}
	return show.Plain
}

// reworded is an error in words that say what to do with this program.
type reworded struct {
	text  string
	cause error
}

func (r *reworded) Error() string { return r.text }

func (r *reworded) Unwrap() error { return r.cause }
