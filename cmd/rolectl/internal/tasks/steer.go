package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// nameCommand makes a command that does one thing with one name.
func (t *scope) nameCommand(use, short, example string, names cobra.CompletionFunc,
	run func(ctx context.Context, c *assign.Client, name string) (done string, err error),
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: cli.CheckArgs, ValidArgsFunction: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
				done, err := run(ctx, c, args[0])
				if err != nil {
					return err
				}
				return t.printDone(cmd, args[0], done)
			})
		},
	}
}

// printDone reports what was done with a name: as data with -o json or -o name, else as a note.
func (t *scope) printDone(cmd *cobra.Command, name, text string) error {
	p := t.Printer()
	switch p.Format {
	case "json":
		action := strings.TrimPrefix(cmd.CommandPath(), "rolectl tasks ")
		return p.JSON(struct {
			show.Document
			Namespace string `json:"namespace"`
			Action    string `json:"action"`
			Name      string `json:"name"`
			Message   string `json:"message"`
		}{show.Of("done"), t.namespace, action, name, wording.Clean(text)})
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: name}}})
	}
	t.Say("%s", text)
	return nil
}

func cancelCommand(t *scope) *cobra.Command {
	open := []assign.State{assign.StatePending, assign.StateDelayed, assign.StateRunning, assign.StateRetrying}
	cmd := t.nameCommand("cancel TASK", "Cancel a task: its outcome becomes cancelled, whatever its handler returns",
		"  rolectl tasks cancel -n jobs nightly-1", t.completeTasks(open...),
		func(ctx context.Context, c *assign.Client, id string) (string, error) {
			kind, err := inventory.RawKind("any")
			if err != nil {
				return "", err
			}
			err = assign.Find(c, kind, id).Cancel(ctx)
			if errors.Is(err, assign.ErrCancelPending) {
				err = fmt.Errorf("%w: %s", assign.ErrCancelPending, id) // that the time was over is not of interest
			}
			return id + " is cancelled", err
		})
	cmd.Long = `Cancel a task, and wait until it has ended: its outcome becomes cancelled, whatever its handler returns. The request is
stored first. Exit code 3 when there is no scheduler: the request takes effect when a scheduler leads.`
	cmd = t.orAll(cmd, &bulk{
		question: "Cancel", report: "being cancelled", run: assign.CancelAll,
	}, open...)
	cmd.Long += ` If another scheduler takes over, the command begins again
with the tasks that are open then: none is left out, and one that has not ended by then counts again.`
	return cmd
}

func requeueCommand(t *scope) *cobra.Command {
	var input string
	var raw bool
	cmd := t.nameCommand("requeue TASK", "Submit a dead task again, with all its attempts",
		"  rolectl tasks requeue -n jobs nightly-1\n  rolectl tasks requeue -n jobs nightly-1 --input '{\"day\":2}'\n"+
			"  rolectl tasks requeue -n jobs --kind import.v2 --since 24h --dry-run",
		t.completeTasks(assign.StateDead), nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var options []assign.RequeueOption
		if cmd.Flags().Changed("input") {
			s := submission{raw: raw}
			data, err := s.input(cmd.Context(), t.App, []string{input})
			if err != nil {
				return err
			}
			options = append(options, assign.WithInput(data))
		}
		return t.withClient(cmd, 0, func(ctx context.Context, c *assign.Client) error {
			if err := assign.Requeue(ctx, c, args[0], options...); err != nil {
				return err
			}
			return t.printDone(cmd, args[0], args[0]+" is submitted again")
		})
	}
	cmd.Long = `Submit a dead task again, with all its attempts, under its id. --input replaces its input, with that of standard input if it
is -.`
	t.keyFlag(cmd)
	cmd.Flags().StringVar(&input, "input", "", "another input, as JSON; - for standard input")
	cmd.Flags().BoolVar(&raw, "raw", false, "accept input that is not JSON")
	return t.orAll(cmd, &bulk{
		question: "Requeue", report: "submitted again", run: assign.RequeueAll,
	}, assign.StateDead)
}

func deleteCommand(t *scope) *cobra.Command {
	cmd := t.nameCommand("rm TASK", "Remove a task that has ended, with its input and its output",
		"  rolectl tasks rm -n jobs nightly-1\n  rolectl tasks rm -n jobs --state dead --until 240h --dry-run",
		t.completeTasks(endedStates...),
		func(ctx context.Context, c *assign.Client, id string) (string, error) {
			return id + " is removed", assign.Delete(ctx, c, id)
		})
	return t.orAll(cmd, &bulk{
		question: "Remove", report: "removed", run: assign.DeleteAll,
	}, endedStates...)
}

func drainCommand(t *scope) *cobra.Command {
	var force bool
	var reason string
	cmd := t.nameCommand("drain INSTANCE", "Give an instance no more tasks; tasks that it runs continue",
		"  rolectl tasks drain -n jobs vm-2 --reason 'new kernel'",
		t.completeWorkers(func(w assign.WorkerOverview) bool { return !w.Drained }),
		func(ctx context.Context, c *assign.Client, instance string) (string, error) {
			o, asked := t.lookUp(ctx, c)
			if asked && worker(o, instance) == nil && !force {
				var names []string
				for _, w := range o.Workers {
					names = append(names, w.Instance)
				}
				return "", unknownName("worker", instance, "drain it anyway", names)
			}
			return instance + " is given no more tasks" + uncheckedNote(asked, "worker"),
				assign.DrainWorker(ctx, c, instance, reason)
		})
	cmd.Long = `Give an instance no more tasks until undrain; tasks that it runs continue. This holds for later sessions of the instance
too.

The request is stored and needs no scheduler. If a scheduler answers, an instance that it does not know is refused. --force
accepts an instance that will join later.`
	cmd.Flags().BoolVar(&force, "force", false, "accept an instance that the scheduler does not know")
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, shown to people")
	return cmd
}

func undrainCommand(t *scope) *cobra.Command {
	return t.nameCommand("undrain INSTANCE", "Give an instance tasks again",
		"  rolectl tasks undrain -n jobs vm-2",
		t.completeWorkers(func(w assign.WorkerOverview) bool { return w.Drained }),
		func(ctx context.Context, c *assign.Client, instance string) (string, error) {
			done := instance + " is given tasks again"
			if o, asked := t.lookUp(ctx, c); asked {
				if w := worker(o, instance); w != nil && !w.Drained || w == nil && o.Omitted == 0 {
					done = instance + " was not drained"
				}
			}
			return done, assign.UndrainWorker(ctx, c, instance) // a drain from a moment ago may not be known yet
		})
}

// worker is what an overview knows of an instance, or nil.
func worker(o assign.Overview, instance string) *assign.WorkerOverview {
	at := slices.IndexFunc(o.Workers, func(w assign.WorkerOverview) bool { return w.Instance == instance })
	if at < 0 {
		return nil
	}
	return &o.Workers[at]
}

func pauseCommand(t *scope) *cobra.Command {
	var force bool
	var reason string
	cmd := t.nameCommand("pause KIND", "Hand out no tasks of a kind until it is resumed; running tasks continue",
		"  rolectl tasks pause -n jobs echo --reason 'bad release'",
		t.completeKinds(0, func(k knownKind) bool { return !k.paused }),
		func(ctx context.Context, c *assign.Client, kind string) (string, error) {
			o, asked := t.lookUp(ctx, c)
			if asked && !force {
				var names []string
				for _, k := range knownKinds(o) {
					names = append(names, k.name)
				}
				if !slices.Contains(names, kind) {
					return "", unknownName("kind", kind, "pause it anyway", names)
				}
			}
			return kind + " is paused" + uncheckedNote(asked, "kind"), assign.PauseKind(ctx, c, kind, reason)
		})
	cmd.Long = `Hand out no tasks of a kind until it is resumed; running tasks continue.

The request is stored and needs no scheduler. If a scheduler answers, a kind without an open task and without a worker is
refused. --force accepts a kind that will be used later.`
	cmd.Flags().BoolVar(&force, "force", false, "accept a kind that the scheduler does not know")
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, shown to people")
	return cmd
}

func resumeCommand(t *scope) *cobra.Command {
	return t.nameCommand("resume KIND", "Hand out tasks of a kind again",
		"  rolectl tasks resume -n jobs echo", t.completeKinds(0, func(k knownKind) bool { return k.paused }),
		func(ctx context.Context, c *assign.Client, kind string) (string, error) {
			done := kind + " is handed out again"
			if o, asked := t.lookUp(ctx, c); asked &&
				!slices.ContainsFunc(o.Kinds, func(k assign.KindOverview) bool { return k.Paused && k.Kind == kind }) {
				done = kind + " was not paused: " + pausedKinds(o)
			}
			return done, assign.ResumeKind(ctx, c, kind) // a pause from a moment ago may not be known yet
		})
}

func pausedKinds(o assign.Overview) string {
	var names []string
	for _, k := range o.Kinds {
		if k.Paused {
			names = append(names, k.Kind)
		}
	}
	if len(names) == 0 {
		return "no kind is paused"
	}
	return "paused kinds: " + strings.Join(names, ", ")
}
