package main

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Exit codes of every command but exec, which passes on that of its child, and doctor, which has codes for monitoring.
const (
	exitFailed     = 1
	exitUsage      = 2
	exitNoLeader   = 3
	exitConnection = 4
	exitLost       = 5
)

// failure is an error with the exit code that it asks for. Without an error nothing is said: all was said before.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// reworded is an error in words that say what to do with this program.
type reworded struct {
	text  string
	cause error
}

func (r *reworded) Error() string { return r.text }

func (r *reworded) Unwrap() error { return r.cause }

// usage is an error in what the user typed.
func usage(err error) error { return &failure{exitUsage, err} }

// codeOf is the exit code of an error.
func codeOf(err error) int {
	var f *failure
	var unreachable *connect.Error
	switch {
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &unreachable):
		return exitConnection
	case errors.Is(err, election.ErrNotLeader):
		return exitNoLeader
	case errors.Is(err, election.ErrBucketNotFound), errors.Is(err, natskv.ErrBucketNotFound):
		return exitFailed
	}
	for _, way := range []error{
		errDenied,
		election.ErrPermission, election.ErrJetStreamOff, election.ErrConnClosed, natskv.ErrJetStreamOff,
		nats.ErrPermissionViolation, nats.ErrConnectionClosed, nats.ErrDisconnected, nats.ErrTimeout, context.DeadlineExceeded,
	} {
		if errors.Is(err, way) {
			return exitConnection
		}
	}
	return exitFailed
}

// oneLine is what is said of bad input, where cobra's suggestions come on lines of their own, and of what cannot be reached.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}
