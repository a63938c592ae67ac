package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

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
	var a app
	cmd := root(&a)
	cmd.SetArgs(args)
	cmd, err := cmd.ExecuteContextC(ctx)
	a.disconnect()
	if a.unread.Load() || refused(err) {
		return errUnread.code
	}
	if err == nil {
		return 0
	}
	if !a.begun { // cobra has found the fault, before anything was done
		err = usage(fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
	}
	code, text := codeOf(err), err.Error()
	if code == exitUsage || code == exitConnection { // of several errors at once, too
		text = oneLine(text)
	}
	if code == exitConnection && errors.Is(err, context.DeadlineExceeded) {
		text += fmt.Sprintf(": nothing was heard within %v (--timeout); rolectl doctor may say more", a.target.Timeout)
	}
	if code == exitConnection && strings.Contains(text, `subscribe to "_INBOX`) {
		text += inboxHint
	}
	if text == "" { // all was said before
		return code
	}
	if cmd.Name() == doctorName {
		code = int(unknown) // nothing was found out; 2 would be read as critical
	}
	if wantsJSON(args) {
		_ = show.Printer{W: os.Stderr}.Line(documentOf(err, text, code, cmd.CommandPath())) // the exit code is left
	} else {
		fmt.Fprintln(os.Stderr, "rolectl:", show.CleanLines(text))
	}
	return code
}
