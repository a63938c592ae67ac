//go:build !linux && !darwin

package supervise

import (
	"context"
	"errors"
	"io"
)

// ErrGuard is not reached here.
var ErrGuard = errors.New("the guard of the command was killed")

// Command is what to run.
type Command struct {
	Path   string
	Args   []string
	Env    []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Result is how a run has ended.
type Result struct {
	Code int
	Lost bool
}

// Run refuses: without process groups and a clock that processes share, the promises of this package cannot be kept.
func Run(context.Context, []string, Command, Lease) (Result, error) {
	return Result{}, errors.New("commands can be run under a role on Linux and macOS only")
}

// Guard has nothing to guard.
func Guard(io.Reader, io.Writer) {}
