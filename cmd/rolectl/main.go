package main

import (
	"context"
	"errors"
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
	cmd, err := cmd.ExecuteContextC(ctx)
	a.disconnect()
	if err == nil {
		return 0
	}
	if !a.begun { // cobra has found the fault, before anything was done
		err = usage(fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
	}
	code, text := codeOf(err), err.Error()
	if code == exitUsage {
		text = oneLine(text)
	}
	if code == exitConnection && errors.Is(err, context.DeadlineExceeded) {
		text += fmt.Sprintf(": nothing was heard within %v (--timeout); rolectl doctor may say more", a.target.Timeout)
	}
	if text != "" {
		fmt.Fprintln(os.Stderr, "rolectl:", show.CleanLines(text))
	}
	if text != "" && cmd.Name() == doctorName {
		return int(unknown) // nothing was found out; 2 would be read as critical
	}
	return code
}
