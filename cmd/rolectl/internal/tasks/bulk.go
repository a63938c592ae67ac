package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// filter is the flags that select tasks.
type filter struct {
	selection
	since, until string
}

// selection is those of them that do not depend on time.
type selection struct {
	kinds   []string
	prefix  string
	headers map[string]string
	states  []string
	known   []string // the states that there are
}

func (f *selection) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.kinds, "kind", nil, "only tasks of these kinds")
	flags.StringVar(&f.prefix, "prefix", "", "only tasks whose id begins with this")
	flags.StringToStringVar(&f.headers, "header", nil, "only tasks that were submitted with this header, name=value")
}

// stateFlag adds the flag for states.
func (f *selection) stateFlag(cmd *cobra.Command, of ...assign.State) {
	names := make([]string, len(of))
	for i, s := range of {
		names[i] = string(s)
	}
	f.known = names
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "only tasks in these states: "+strings.Join(names, ", "))
	cli.CompleteFlag(cmd, "state", names...)
}

func (f *selection) wanted() (states []assign.State) {
	for _, s := range f.states {
		states = append(states, assign.State(s))
	}
	return states
}

func (f *filter) flags(cmd *cobra.Command) {
	f.selection.flags(cmd)
	flags := cmd.Flags()
	const when = ": an age such as 2h, or a time such as 2026-01-02T15:04:05Z"
	flags.StringVar(&f.since, "since", "", "only tasks submitted, or ended, since then"+when)
	flags.StringVar(&f.until, "until", "", "only tasks submitted, or ended, before then"+when)
}

// options are the flags for a list, or for an operation on all of it.
func (f *filter) options() (o assign.ListOptions, err error) {
	for _, s := range f.states {
		if !slices.Contains(f.known, s) {
			return o, cli.UsageError(fmt.Errorf("--state %q: use %s", s, strings.Join(f.known, ", ")))
		}
	}
	o = assign.ListOptions{States: f.wanted(), Kinds: f.kinds, Prefix: f.prefix, Headers: f.headers}
	if o.Since, err = moment("since", f.since); err != nil {
		return o, err
	}
	o.Until, err = moment("until", f.until)
	return o, err
}

// moment reads a time, or an age.
func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return time.Now().Add(-age), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, cli.UsageError(fmt.Errorf("--%s %q: use an age such as 2h, or a time such as 2026-01-02T15:04:05Z", flag,
			text))
	}
	return at, nil
}

// bulk lets a command that does something to one task do it to all tasks that its flags select.
type bulk struct {
	filter
	possible         []assign.State
	all, dry, yes    bool
	cursor           string
	within           time.Duration
	question, report string // before the number of tasks
	run              func(ctx context.Context, in assign.Submitter, o assign.BulkOptions) (assign.BulkResult, error)
}

// bulkFlags are those that mean all tasks of a filter, and not one task.
var bulkFlags = []string{"kind", "prefix", "header", "since", "until", "state", "all", "cursor"}

// orAll adds a bulk operation to a command for one task.
func (t *scope) orAll(cmd *cobra.Command, b *bulk, states ...assign.State) *cobra.Command {
	one := cmd.RunE
	b.possible = states
	cmd.Use = strings.Replace(cmd.Use, " TASK", " [TASK]", 1)
	cmd.Long = strings.TrimSpace(cmd.Long + "\n\n" + `Without a task, the command takes all tasks that --kind, --prefix, --header, --since and --until select, or --all. --dry-run
counts them. The command may be interrupted and given again: nothing is done twice. It prints a cursor then, with
which --cursor continues where it ended.`)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given := slices.ContainsFunc(bulkFlags, func(name string) bool {
			f := cmd.Flags().Lookup(name)
			return f != nil && f.Changed
		})
		switch {
		case len(args) > 0 && (given || b.dry):
			return cli.UsageError(errors.New("give a task, or flags that select tasks, not both"))
		case len(args) > 0:
			return one(cmd, args)
		case !given:
			return cli.UsageError(errors.New("give a task, flags that select tasks, or --all"))
		}
		return t.bulk(cmd, b)
	}
	b.flags(cmd)
	f := cmd.Flags()
	if len(states) > 1 {
		b.stateFlag(cmd, states...)
	}
	f.BoolVar(&b.all, "all", false, "all tasks")
	f.BoolVar(&b.dry, "dry-run", false, "only count the tasks")
	f.BoolVar(&b.yes, "yes", false, "do not ask")
	f.StringVar(&b.cursor, "cursor", "", "continue where an interrupted command ended")
	cli.DurationFlag(cmd, &b.within, "within", 0, 0, "how long it may take (0: no limit)")
	return cmd
}

func (t *scope) bulk(cmd *cobra.Command, b *bulk) error {
	list, err := b.options()
	if err != nil {
		return err
	}
	o := assign.BulkOptions{ListOptions: list, DryRun: true}
	within := b.within
	if within == 0 {
		within = -1
	}
	return t.withClient(cmd, within, func(ctx context.Context, c *assign.Client) error {
		if err := t.answers(ctx, c, b, list); err != nil {
			return err
		}
		if !b.dry && !b.yes {
			counted, err := b.run(ctx, c, o)
			if err != nil {
				return err
			}
			if counted.Done == 0 {
				return t.printBulk(cmd, b, counted)
			}
			if err := t.Confirm(ctx, false, b.question+" "+wording.Count(counted.Done, "task")+"?"); err != nil {
				return err
			}
		}
		o.DryRun, o.Cursor = b.dry, b.cursor
		r, err := b.run(ctx, c, o)
		if err != nil && r.Done+r.Skipped+r.Needed+r.Failed == 0 {
			return err
		}
		if printed := t.printBulk(cmd, b, r); printed != nil {
			return printed
		}
		switch {
		case err != nil && r.Next != "":
			return cli.ExitWith(cli.ExitFailed, fmt.Errorf("it was interrupted: continue with --cursor %s: %w", r.Next, err))
		case err != nil:
			return cli.ExitWith(cli.ExitFailed, fmt.Errorf("it was interrupted: give the command again: %w", err))
		case r.Failed > 0:
			return cli.ExitWith(cli.ExitFailed, fmt.Errorf("failed: %s, the first is %s: %s", wording.Count(r.Failed, "task"),
				r.Faults[0].ID, r.Faults[0].Error))
		}
		return nil
	})
}

// answers asks for one task within --timeout: the operation has more time, and must not wait for a
// server that does not answer.
func (t *scope) answers(ctx context.Context, c *assign.Client, b *bulk, first assign.ListOptions) error {
	ctx, cancel := context.WithTimeout(ctx, t.Target.Timeout)
	defer cancel()
	if first.Limit = 1; len(first.States) == 0 {
		first.States = b.possible
	}
	_, err := assign.List(ctx, c, first)
	return err
}

func (t *scope) printBulk(cmd *cobra.Command, b *bulk, r assign.BulkResult) error {
	p := t.Printer()
	switch p.Format {
	case "json":
		return p.JSON(struct {
			show.Document
			Namespace string `json:"namespace"`
			Action    string `json:"action"`
			DryRun    bool   `json:"dry_run,omitempty"`
			assign.BulkResult
		}{show.Of("bulk"), t.namespace, strings.TrimPrefix(cmd.CommandPath(), "rolectl tasks "), b.dry, r})
	case "name":
		return nil
	}
	if b.dry {
		t.Say("selected: %s", wording.Count(r.Done, "task"))
	} else {
		t.Say("%s: %s", b.report, wording.Count(r.Done, "task"))
	}
	if r.Skipped > 0 {
		t.Say("skipped, because something else had happened to them: %s", wording.Count(r.Skipped, "task"))
	}
	if r.Needed > 0 {
		t.Say("kept, because open tasks wait for their outcomes: %s", wording.Count(r.Needed, "task"))
	}
	return nil
}
