package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// submission is the part of a task that the flags of submit and of cron set define.
type submission struct {
	attempts int
	each     time.Duration
	keep     time.Duration
	keepDead time.Duration
	priority int
	labels   map[string]string
	headers  map[string]string
	raw      bool
}

func (s *submission) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	cli.IntFlag(cmd, &s.attempts, "attempts", 0, 10_000, "how many attempts may fail (0: as declared, else 5)")
	cli.DurationFlag(cmd, &s.each, "attempt-timeout", 0, 0,
		"how long one attempt may take (0: as declared, else no limit)")
	cli.DurationFlag(cmd, &s.keep, "retention", 0, 0, "how long the outcome is kept (0: as declared, else 1h)")
	cli.DurationFlag(cmd, &s.keepDead, "dead-retention", 0, 0,
		"how long the task is kept if it is dead (0: as declared, else 30 days)")
	cli.IntFlag(cmd, &s.priority, "priority", -100, 100, "tasks with a higher priority go first, -100 to 100")
	f.StringToStringVar(&s.labels, "label", nil, "a label that the worker must have, name=value")
	f.StringToStringVar(&s.headers, "header", nil, "a header for the handler, name=value")
	f.BoolVar(&s.raw, "raw", false, "accept input that is not JSON")
}

// check looks at the flags before anything is connected.
func (s *submission) check(kind string) error {
	_, err := inventory.RawKind(kind, s.options()...)
	if err != nil {
		return cli.UsageError(err)
	}
	return nil
}

// kind is the kind as its programs have declared it, changed by the flags.
func (s *submission) kind(ctx context.Context, c *assign.Client, name string) (assign.Kind[[]byte, []byte], error) {
	return assign.DeclaredKind[[]byte, []byte](ctx, c, name, s.options()...)
}

func (s *submission) options() (options []assign.KindOption) {
	if s.attempts != 0 {
		options = append(options, assign.MaxAttempts(s.attempts))
	}
	if s.each != 0 {
		options = append(options, assign.Timeout(s.each))
	}
	if s.keep != 0 {
		options = append(options, assign.Retention(s.keep))
	}
	if s.keepDead != 0 {
		options = append(options, assign.DeadRetention(s.keepDead))
	}
	if s.priority != 0 {
		options = append(options, assign.Priority(s.priority))
	}
	if len(s.labels) > 0 {
		options = append(options, assign.Labels(s.labels))
	}
	return options
}

// maxInput bounds what is read from standard input. The limit of the server is lower.
const maxInput = 64 << 20

// input returns the argument, or standard input for "-" or no argument.
func (s *submission) input(ctx context.Context, a *cli.App, args []string) ([]byte, error) {
	data := []byte("null")
	switch {
	case len(args) > 0 && args[0] != "-":
		data = []byte(args[0])
	case len(args) > 0 || !show.IsTerminal(a.In):
		var err error
		if data, err = readInput(ctx, a.In, a.Settings.Timeout); err != nil {
			return nil, err
		}
		if len(data) > maxInput {
			return nil, cli.UsageError(fmt.Errorf("the input has more than %d bytes", maxInput))
		}
		if len(args) == 0 && len(data) == 0 {
			data = []byte("null")
		}
	}
	if !s.raw && !json.Valid(data) {
		return nil, cli.UsageError(errors.New(`the input is not JSON: quote a text as '"text"', or give --raw`))
	}
	return data, nil
}

// readInput reads standard input until its end, or until ctx ends. A timeout that was given bounds
// it too: 0 is none.
func readInput(ctx context.Context, in io.Reader, within time.Duration) ([]byte, error) {
	var late <-chan time.Time
	if within > 0 {
		late = time.After(within)
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1) // nobody may be waiting any more
	go func() {                // ends with the program: a read of a terminal cannot be cancelled
		data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fmt.Errorf("read the input: %w", r.err)
		}
		return r.data, nil
	case <-late:
		return nil, cli.ExitWith(cli.ExitFailed, fmt.Errorf(
			"standard input has not ended within %v (--timeout): give the input as an argument, or wait longer", within))
	case <-ctx.Done():
		return nil, cli.ErrInterrupted
	}
}
