package stage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFaulty      = 1 // something was lost, wrong or overlapped, or could not be started
	exitUsage       = 2
	exitInterrupted = 130 // before every task was done
)

// Run is the whole program: the command line in, the exit status out.
func Run(args []string, stdout, stderr io.Writer, app App) int {
	if slices.Equal(args, []string{workerArgument}) || len(args) == 2 && args[0] == guardArgument {
		return runChild(args, stdout, stderr, app)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	o, err := parse(args, stdout)
	if err == nil {
		err = runDemo(ctx, o, app, stdout, stderr)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintln(stderr, "multi-role:", err)
	switch {
	case errors.Is(err, errUsage):
		return exitUsage
	case ctx.Err() != nil && !errors.Is(err, errFaulty):
		return exitInterrupted
	}
	return exitFaulty
}

// runChild is the worker, or its guard.
func runChild(args []string, stdout, stderr io.Writer, app App) int {
	// A terminal sends its signals to all processes: the one that started these ends them. When that
	// one is gone, nobody reads stdout.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	var code int
	var err error
	if args[0] == guardArgument {
		code, err = runGuard(args[1], app)
	} else {
		err = runWorker(os.Stdin, stdout, app)
	}
	if err != nil {
		fmt.Fprintln(stderr, "multi-role:", err)
		return exitFaulty
	}
	return code
}
