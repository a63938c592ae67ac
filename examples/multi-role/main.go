package main

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

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: the command line in, the exit status out.
func run(args []string, stdout, stderr io.Writer) int {
	if slices.Equal(args, []string{workerArgument}) {
		// What a terminal sends goes to both: who has started the worker ends it. When that one is gone, nobody reads stdout.
		signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
		if err := work(os.Stdin, stdout); err != nil {
			fmt.Fprintln(stderr, "multi-role:", err)
			return exitFaulty
		}
		return exitOK
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once

	o, err := parse(args, stdout)
	if err == nil {
		err = play(ctx, o, stdout, stderr)
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
