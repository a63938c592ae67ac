package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func watchCommand(t *scope) *cobra.Command {
	var only selection
	cmd := &cobra.Command{
		Use: "watch", Short: "Follow what begins, fails and ends, until interrupted",
		Long: `Follow what begins, fails and ends, until interrupted.

On a terminal each event is a line. Without a terminal, or with -o json, it is a JSON document on a line. With -o name it is
the name of the task. The scheduler tells the events; while nobody leads, the command waits. Where events are missing, a
line says so.`,
		Example: `  rolectl tasks watch -n jobs --state dead
  rolectl tasks watch -n jobs --kind mail --header tenant=a | jq -r 'select(.event == "ended") | .task.id'`,
		Args: cli.CheckArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer t.EndWhenUnread(cmd)()
			o := assign.EventOptions{States: only.wanted(), Kinds: only.kinds, Prefix: only.prefix, Headers: only.headers}
			return t.withClient(cmd, -1, func(ctx context.Context, c *assign.Client) error { return t.watch(ctx, c, o) })
		},
	}
	only.stateFlag(cmd, slices.Concat(openStates, endedStates)...)
	only.flags(cmd)
	return cmd
}

// watch writes events until ctx ends.
func (t *scope) watch(ctx context.Context, c *assign.Client, o assign.EventOptions) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	events, err := t.beginWatch(ctx, cancel, c, o)
	if err != nil || events == nil {
		return err
	}
	t.Say("following the tasks of namespace %s", t.namespace)
	w := t.eventWriter()
	for e := range events {
		if err := w.write(e); err != nil {
			return err
		}
	}
	return nil // the events end with ctx
}

// beginWatch asks for events until a scheduler answers. Events are nil if the user has interrupted
// the command.
func (t *scope) beginWatch(ctx context.Context, cancel context.CancelCauseFunc, c *assign.Client,
	o assign.EventOptions,
) (<-chan assign.TaskEvent, error) {
	for said := false; ; {
		late := time.AfterFunc(t.Target.Timeout, func() { cancel(context.DeadlineExceeded) })
		events, err := assign.Events(ctx, c, o)
		late.Stop()
		switch {
		case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
			return nil, fmt.Errorf("no answer within %v: %w", t.Target.Timeout, context.DeadlineExceeded)
		case ctx.Err() != nil:
			return nil, nil
		case !errors.Is(err, assign.ErrNoScheduler):
			return events, err
		}
		if !said {
			t.Say("nobody hands out: waiting for a scheduler")
			said = true
		}
		again := time.NewTimer(lookAgain)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
	}
}

// taskEvent is one line of JSON.
type taskEvent struct {
	show.Document
	Namespace string    `json:"namespace"`
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	*named
}

// named is the task of an event that is about one.
type named struct {
	Task assign.TaskStatus `json:"task"`
}

// eventWriter writes events as lines.
type eventWriter struct {
	*scope
	show.Printer
	plain      bool
	task, kind int // widths of the columns so far
}

func (t *scope) eventWriter() *eventWriter {
	return &eventWriter{
		scope: t, Printer: t.Printer(), plain: t.Format != "json" && t.Format != "name" && show.IsTerminal(t.Out),
	}
}

func (w *eventWriter) write(e assign.TaskEvent) error {
	switch {
	case w.Format == "name" && e.Type == assign.EventMissed:
		return nil
	case w.Format == "name":
		return w.Print(show.Table{Rows: []show.Row{{Name: e.Task.ID}}})
	case !w.plain:
		line := taskEvent{show.Of("task_event"), w.namespace, time.Now(), string(e.Type), nil}
		if e.Type != assign.EventMissed {
			line.named = &named{e.Task}
		}
		return w.Line(line)
	case e.Type == assign.EventMissed:
		_, err := fmt.Fprintln(w.W, w.Paint(show.Warning, now()+"  events are missing: another scheduler hands out, or "+
			"the connection was lost"))
		return err
	}
	s := e.Task
	id, kind := wording.Clean(s.ID), wording.Clean(s.Kind)
	w.task, w.kind = max(w.task, len(id)), max(w.kind, len(kind))
	what := string(e.Type)
	if e.Type == assign.EventEnded {
		what = string(s.State)
	}
	about := wording.Clean(note(s))
	if s.Worker != "" {
		about = "by " + wording.Clean(s.Worker) + "  " + about
	}
	_, err := fmt.Fprintln(w.W, w.Paint(toneOf(s.State),
		fmt.Sprintf("%s  %-9s  %-*s  %-*s  %s", now(), what, w.task, id, w.kind, kind, about)))
	return err
}

func now() string { return time.Now().Format(time.TimeOnly) }
