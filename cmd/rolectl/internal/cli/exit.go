package cli

import (
	"context"
	"errors"
	"syscall"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Exit codes of all commands, except that exec passes on the exit code of its child and doctor has
// codes for monitoring.
const (
	ExitFailed     = 1
	ExitUsage      = 2
	ExitNoLeader   = 3
	ExitConnection = 4
	ExitLost       = 5
	ExitUnread     = 128 + int(syscall.SIGPIPE) // as a shell reports a process that this signal has ended
)

// exitError is an error with an exit code. Without an error nothing is printed.
type exitError struct {
	code int
	err  error
}

func (f *exitError) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *exitError) Unwrap() error { return f.err }

// ExitWith gives an error an exit code.
func ExitWith(code int, err error) error { return &exitError{code, err} }

// ExitCode ends the program with a code and prints nothing. It returns nil for 0.
func ExitCode(code int) error {
	if code == 0 {
		return nil
	}
	return &exitError{code, nil}
}

// UsageError marks an error in what the user typed.
func UsageError(err error) error { return ExitWith(ExitUsage, err) }

// ErrInterrupted says that the user has interrupted the command.
var ErrInterrupted = ExitWith(ExitFailed, errors.New("interrupted"))

// CodeOf returns the exit code of an error.
func CodeOf(err error) int {
	var f *exitError
	var unreachable *connect.Error
	switch {
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &unreachable):
		return ExitConnection
	case errors.Is(err, election.ErrNotLeader):
		return ExitNoLeader
	case errors.Is(err, election.ErrBucketNotFound), errors.Is(err, natskv.ErrBucketNotFound):
		return ExitFailed
	}
	for _, way := range []error{
		ErrDenied,
		election.ErrPermission, election.ErrJetStreamOff, election.ErrConnClosed, natskv.ErrJetStreamOff,
		nats.ErrPermissionViolation, nats.ErrConnectionClosed, nats.ErrDisconnected, nats.ErrTimeout,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, way) {
			return ExitConnection
		}
	}
	return ExitFailed
}
