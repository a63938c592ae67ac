//go:build !linux && !darwin

package supervise

import (
	"context"
	"errors"
	"os"
)

// ErrGuard is never returned here.
var ErrGuard = errors.New("the guard of the command was killed")

// Command is what to run.
type Command struct {
	Path    string
	Args    []string
	Env     []string
	Stdin   *os.File
	Stdout  *os.File
	Stderr  *os.File
	Signals <-chan os.Signal
}

// Result is the end of a run.
type Result struct {
	Code int
	Lost bool
}

// Run returns an error: without process groups and a clock shared by processes, this package cannot
// keep its promises.
func Run(context.Context, []string, Command, Lease) (Result, error) {
	return Result{}, errors.New("commands can be run under a role on Linux and macOS only")
}

// Guard does nothing here.
func Guard(string, []string) {}
