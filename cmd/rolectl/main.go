package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string) int {
	var a app
	cmd := root(&a)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	a.disconnect()
	if err == nil {
		return 0
	}
	if !a.begun { // cobra has found the fault, before anything was done
		err = usage(fmt.Errorf("%s (see %s --help)", oneLine(err.Error()), cmd.CommandPath()))
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "rolectl:", show.CleanLines(text))
	}
	return codeOf(err)
}
