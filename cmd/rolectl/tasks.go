package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// taskApp is what the commands about tasks have in common: the namespace.
type taskApp struct {
	*app
	namespace string
}

func tasks(a *app) *cobra.Command {
	t := &taskApp{app: a}
	cmd := group("tasks", "See, submit and steer the tasks of a namespace")
	cmd.Aliases = []string{"task"}
	cmd.Long = `See, submit and steer the tasks of a namespace.

Submitting, cancelling, pausing and draining need no scheduler: what is asked for is stored, and takes effect when one leads.
Open tasks are listed by the scheduler; tasks that have ended are read from the stream.`
	cmd.PersistentFlags().StringVarP(&t.namespace, "namespace", "n", os.Getenv("TASKS_NAMESPACE"), "namespace of the tasks (TASKS_NAMESPACE)")
	cmd.AddCommand(
		taskCreate(t), taskList(t), taskGet(t), taskSubmit(t), taskCancel(t), taskRequeue(t), taskDrain(t), taskPause(t), taskResume(t),
		taskOverview(t), taskCron(t),
	)
	completeFlagBy(cmd, "namespace", t.completeNamespaces)
	return cmd
}

// with runs something over a client, within the time that one question has (0: that of --timeout; negative: no limit).
func (t *taskApp) with(cmd *cobra.Command, within time.Duration, run func(ctx context.Context, c *assign.Client) error) error {
	if t.namespace == "" {
		return usage(errors.New("which tasks? give --namespace, or set TASKS_NAMESPACE"))
	}
	nc, err := t.connect()
	if err != nil {
		return err
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: t.namespace})
	if err != nil {
		return usage(err)
	}
	defer c.Close()
	ctx := cmd.Context()
	if within == 0 {
		within = t.target.Timeout
	}
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	if err = run(ctx, c); errors.Is(err, assign.ErrStreamNotFound) {
		return &reworded{fmt.Sprintf("there are no tasks %s on this server (no stream %s%[1]s): make them with \"rolectl tasks create %[1]s\"", t.namespace, tasksPrefix), err}
	}
	if errors.Is(err, assign.ErrNoScheduler) && forbidden(nc, t.namespace+".ctl") {
		return &failure{exitConnection, fmt.Errorf("%w: to publish to %s.ctl, where the scheduler is asked", errDenied, t.namespace)}
	}
	return taskFault(err)
}

// taskFault gives errors of package assign their exit codes.
func taskFault(err error) error {
	switch {
	case errors.Is(err, assign.ErrNoScheduler), errors.Is(err, assign.ErrCancelPending):
		return &failure{exitNoLeader, err}
	case errors.Is(err, assign.ErrInvalidID), errors.Is(err, assign.ErrInvalidKind), errors.Is(err, assign.ErrInvalidName),
		errors.Is(err, assign.ErrInvalidOption), errors.Is(err, assign.ErrInvalidSpec):
		return usage(err)
	}
	return err
}

// taskTone is how good a state is.
func taskTone(s assign.State) show.Tone {
	switch s {
	case assign.StateDead:
		return show.Bad
	case assign.StateExpired, assign.StateCancelled, assign.StateRetrying:
		return show.Warning
	}
	return show.Plain
}

// raw is a kind of which only the name is known: what goes in and comes out is bytes.
func raw(name string, options ...assign.KindOption) (assign.Kind[[]byte, []byte], error) {
	return assign.MakeKind[[]byte, []byte](name, options...)
}
