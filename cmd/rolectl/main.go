package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/doctor"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Without it the first write that nobody reads would end the process where it stands. Unlike an ignored signal it is not
	// passed on to the command of exec.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, os.Args[1:]))
}

// inboxHint is for users whose answers come elsewhere.
const inboxHint = ": give the prefix that this user may subscribe to with --inbox-prefix (NATS_INBOX_PREFIX); that of exec is _INBOX_ and its --instance"

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string) int {
	var a cli.App
	cmd := root(&a)
	cmd.SetArgs(args)
	cmd, err := cmd.ExecuteContextC(ctx)
	a.Disconnect()
	if a.Unread.Load() || cli.OutputClosed(err) {
		return cli.ExitUnread
	}
	if err == nil {
		return 0
	}
	if !a.Begun { // cobra has found the fault, before anything was done
		err = cli.UsageError(fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
	}
	code, text := cli.CodeOf(err), err.Error()
	if code == cli.ExitUsage || code == cli.ExitConnection { // of several errors at once, too
		text = show.OneLine(text)
	}
	if code == cli.ExitConnection && errors.Is(err, context.DeadlineExceeded) {
		text += fmt.Sprintf(": nothing was heard within %v (--timeout); rolectl doctor may say more", a.Target.Timeout)
	}
	if code == cli.ExitConnection && strings.Contains(text, `subscribe to "_INBOX`) {
		text += inboxHint
	}
	if text == "" { // all was said before
		return code
	}
	if cmd.Name() == doctor.Name {
		code = doctor.ExitUnknown // nothing was found out; 2 would be read as critical
	}
	if cli.WantsJSON(args) {
		_ = show.Printer{W: os.Stderr}.Line(cli.ErrorDocument(err, text, code, cmd.CommandPath())) // the exit code is left
	} else {
		fmt.Fprintln(os.Stderr, "rolectl:", show.CleanLines(text))
	}
	return code
}
