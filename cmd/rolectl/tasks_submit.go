package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// submission is what the flags of submit, and of cron set, say of a task.
type submission struct {
	attempts int
	each     time.Duration
	keep     time.Duration
	priority int
	labels   map[string]string
	headers  map[string]string
	raw      bool
}

func (s *submission) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	between(cmd, &s.attempts, "attempts", 0, 10_000, "how many attempts may fail (0: 5)")
	atLeast(cmd, &s.each, "attempt-timeout", 0, 0, "how long one attempt may take (0: as long as it wants)")
	atLeast(cmd, &s.keep, "retention", 0, 0, "how long the outcome is kept (0: 1h)")
	between(cmd, &s.priority, "priority", -100, 100, "which tasks go first, -100 to 100")
	f.StringToStringVar(&s.labels, "label", nil, "what the worker must have, name=value")
	f.StringToStringVar(&s.headers, "header", nil, "what is passed on to the handler, name=value")
	f.BoolVar(&s.raw, "raw", false, "take the input as it is, though it is no JSON")
}

func (s *submission) kind(name string) (assign.Kind[[]byte, []byte], error) {
	var options []assign.KindOption
	if s.attempts != 0 {
		options = append(options, assign.MaxAttempts(s.attempts))
	}
	if s.each != 0 {
		options = append(options, assign.Timeout(s.each))
	}
	if s.keep != 0 {
		options = append(options, assign.Retention(s.keep))
	}
	if s.priority != 0 {
		options = append(options, assign.Priority(s.priority))
	}
	if len(s.labels) > 0 {
		options = append(options, assign.Labels(s.labels))
	}
	kind, err := raw(name, options...)
	if err != nil {
		return kind, usage(err)
	}
	return kind, nil
}

// maxInput bounds what is read from standard input; the server's own limit comes below it.
const maxInput = 64 << 20

// input is the argument, or what comes on standard input for "-" or none.
func (s *submission) input(args []string) ([]byte, error) {
	data := []byte("null")
	switch {
	case len(args) > 0 && args[0] != "-":
		data = []byte(args[0])
	case len(args) > 0 || !show.IsTerminal(os.Stdin):
		var err error
		if data, err = io.ReadAll(io.LimitReader(os.Stdin, maxInput+1)); err != nil {
			return nil, fmt.Errorf("read the input: %w", err)
		}
		if len(data) > maxInput {
			return nil, usage(fmt.Errorf("the input has more than %d bytes", maxInput))
		}
		if len(args) == 0 && len(data) == 0 {
			data = []byte("null")
		}
	}
	if !s.raw && !json.Valid(data) {
		return nil, usage(errors.New(`the input is no JSON: quote a text as '"text"', or give --raw`))
	}
	return data, nil
}

func taskSubmit(t *taskApp) *cobra.Command {
	var s submission
	var id, unique, sticky, limitKey string
	var delay, deadline, waitFor time.Duration
	var wait bool
	cmd := &cobra.Command{
		Use: "submit KIND [INPUT|-]", Short: "Submit a task; with --wait, wait for what it returns",
		Long: `Submit a task: its kind by name, its input as JSON, as an argument or on standard input. It is stored when the command returns,
needs no scheduler for that, and prints the task's id. A task of the same --id that is there already is that task.

With --wait it waits until the task has ended and writes what it has returned, as it is (with -o json: the document of the task,
with that in it). On a terminal, a bar on standard error
shows how far it is; elsewhere a line says why it waits, whenever that has changed. Exit code 1 when the task did not succeed.
Interrupting that leaves the task as it is.`,
		Example: `  rolectl tasks submit -n jobs echo '"hello"'
  rolectl tasks submit -n jobs echo '"hello"' --wait
  jq -c . job.json | rolectl tasks submit -n jobs import.v2 - --id import-2026-01 --attempts 3`,
		Args: takes, ValidArgsFunction: t.completeKinds(0, func(knownKind) bool { return true }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if waitFor > 0 && !wait {
				return usage(errors.New("--wait-timeout says how long to wait: give --wait too"))
			}
			kind, err := s.kind(args[0])
			if err != nil {
				return err
			}
			data, err := s.input(args[1:])
			if err != nil {
				return err
			}
			var options []assign.SubmitOption
			for name, value := range s.headers {
				options = append(options, assign.WithHeader(name, value))
			}
			for _, o := range []struct {
				given  bool
				option assign.SubmitOption
			}{
				{id != "", assign.WithID(id)},
				{unique != "", assign.WithUnique(unique)},
				{sticky != "", assign.WithSticky(sticky)},
				{limitKey != "", assign.WithLimitKey(limitKey)},
				{delay > 0, assign.WithDelay(delay)},
				{deadline > 0, assign.WithDeadline(deadline)},
			} {
				if o.given {
					options = append(options, o.option)
				}
			}
			within := time.Duration(0)
			if wait {
				within = -1
			}
			return t.with(cmd, within, func(ctx context.Context, c *assign.Client) error {
				storing, cancel := context.WithTimeout(ctx, t.target.Timeout)
				defer cancel()
				task, err := assign.Submit(storing, c, kind, data, options...)
				if err != nil {
					return err
				}
				if task.Existing() {
					t.say("%s was there already", task.ID())
				}
				if wait {
					defer t.whileRead(cmd)() // what was submitted stays
					return t.await(cmd.Context(), c, task, waitFor)
				}
				return t.submitted(task.ID(), args[0], task.Existing())
			})
		},
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&id, "id", "", "name of the task (default: one that nobody else has)")
	f.StringVar(&unique, "unique", "", "only if no task of this kind with this key is open")
	f.StringVar(&sticky, "sticky", "", "prefer one worker for all tasks of this key")
	f.StringVar(&limitKey, "limit-key", "", "run tasks of this key one at a time")
	atLeast(cmd, &delay, "delay", 0, 0, "how long it is not due yet")
	atLeast(cmd, &deadline, "deadline", 0, 0, "how long after its submission it expires")
	f.BoolVarP(&wait, "wait", "w", false, "wait until the task has ended, and write what it has returned")
	atLeast(cmd, &waitFor, "wait-timeout", 0, 0, "how long to wait (0: as long as it takes)")
	return cmd
}

func (t *taskApp) submitted(id, kind string, existing bool) error {
	p := t.printer()
	if p.Format == "json" {
		return p.JSON(struct {
			show.Document
			Namespace string `json:"namespace"`
			ID        string `json:"id"`
			TaskKind  string `json:"task_kind"`
			Existing  bool   `json:"existing,omitempty"`
		}{show.Of("submitted"), t.namespace, id, kind, existing})
	}
	_, err := fmt.Fprintln(p.W, id)
	return err
}
