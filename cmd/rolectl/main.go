package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/doctor"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/exec"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/guard"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func main() {
	ctx, stop := untilSignal(os.Interrupt, syscall.SIGTERM)
	defer stop(nil)
	// Without this, the first write to a closed pipe would end the process at once. A caught
	// signal, unlike an ignored one, is not inherited by the command of exec.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, cli.OfProcess(), os.Args[1:]))
}

// signalled is the cause of a context that a signal has ended.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return "interrupted by " + s.Signal.String() }

// untilSignal returns a context that ends with the first of the signals.
func untilSignal(which ...os.Signal) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := make(chan os.Signal, 1) // the first one counts
	for _, s := range which {
		if !signal.Ignored(s) { // as in a script that runs it in the background; a command of exec inherits it
			signal.Notify(c, s)
		}
	}
	go func() { // ends with the program
		if s, ok := (<-c).(syscall.Signal); ok {
			cancel(signalled{s})
		}
	}()
	return ctx, cancel
}

// exitCode is that of an error, or of the signal that has interrupted the command, as a shell
// reports it. exec and doctor have exit codes of their own.
func exitCode(ctx context.Context, cmd *cobra.Command, err error) int {
	code := cli.CodeOf(err)
	var by signalled
	own := cmd.Name() == exec.Name || cmd.Name() == guard.Name || cmd.Name() == doctor.Name
	if !own && (code == cli.ExitFailed || code == cli.ExitConnection) && errors.As(context.Cause(ctx), &by) {
		return 128 + int(by.Signal)
	}
	return code
}

// inboxHint is for users who may subscribe only below another inbox prefix.
const inboxHint = ": give the prefix that this user may subscribe to with --inbox-prefix (NATS_INBOX_PREFIX); exec " +
	"uses _INBOX_ followed by its --instance"

// run executes one command line and returns its exit code.
func run(ctx context.Context, a *cli.App, args []string) int {
	cmd := root(a)
	cmd.SetArgs(args)
	cmd, err := cmd.ExecuteContextC(ctx)
	others := a.Others(ctx, err)
	a.Disconnect()
	if a.Unread.Load() || a.OutputClosed(err) {
		return cli.ExitUnread
	}
	if err == nil {
		return 0
	}
	if !a.Begun { // cobra refused the command line, and nothing was done
		err = cli.UsageError(fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
	}
	code, text := exitCode(ctx, cmd, err), wording.Plain(err)+others
	if code == cli.ExitUsage || code == cli.ExitConnection { // it may consist of several errors
		text = wording.OneLine(text)
	}
	if code == cli.ExitConnection && errors.Is(err, context.DeadlineExceeded) {
		text += fmt.Sprintf(": no answer within %v (--timeout); rolectl doctor may tell more", a.Target.Timeout)
	}
	if code == cli.ExitConnection && strings.Contains(text, `subscribe to "_INBOX`) {
		text += inboxHint
	}
	if text == "" { // the command has written its output already
		return code
	}
	if cmd.Name() == doctor.Name {
		code = doctor.ExitUnknown // the check could not run; 2 would be read as critical
	}
	if cli.WantsJSON(args) {
		// without it the exit code still tells
		_ = show.Printer{W: a.Err}.Line(cli.ErrorDocument(err, text, code, cmd.CommandPath()))
	} else {
		fmt.Fprintln(a.Err, "rolectl:", wording.CleanLines(text))
	}
	return code
}
