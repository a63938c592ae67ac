package guard

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/nats-io/nats.go"
)

// Config is how a program is guarded.
type Config struct {
	// Conn is a connection of the guard's own, required. It has to reach the buckets that the program
	// uses, and needs the permissions of docs/reference/permissions.md. The caller closes it.
	Conn *nats.Conn
	// Signals are passed on to the program. One that comes when the program has ended is the end of
	// StopTimeout for those that it has left behind. nil: none.
	Signals <-chan os.Signal
	// StopTimeout is how long what is left of the program may take to end after TERM, before it gets
	// KILL. Default 5 s.
	StopTimeout time.Duration
	// WriteTimeout bounds how long the guard tries to end the sessions. After it the TTL decides.
	// Default 2 s.
	WriteTimeout time.Duration
	// LeaveChildren leaves the descendants of the program alone when the program has ended. The
	// sessions are ended only if there are none.
	LeaveChildren bool
	// SocketMode is who may write to the socket of Serve. Default 0600: the user of the guard alone.
	SocketMode fs.FileMode
	// Logger gets what the guard does and what fails. Default slog.Default().
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.StopTimeout = cmp.Or(c.StopTimeout, 5*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 2*time.Second)
	c.SocketMode = cmp.Or(c.SocketMode, 0o600)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// Errors of Run, beside those of starting the program.
var (
	// ErrUnsupported means that this system has no subreapers; for Serve, that it is not Linux 6.5 or
	// newer.
	ErrUnsupported = errors.New("guard: this system cannot do it")
	// ErrConfig means that the configuration or the command cannot be used; the text names the fix.
	ErrConfig = errors.New("guard: configuration")
)

func (c Config) check(cmd *exec.Cmd) error {
	fault := func(text string) error { return fmt.Errorf("%w: %s", ErrConfig, text) }
	switch {
	case c.Conn == nil:
		return fault("Conn is nil: give the guard a connection of its own")
	case c.StopTimeout < 0:
		return fault("StopTimeout is negative: leave it out for 5 s")
	case c.WriteTimeout < 0:
		return fault("WriteTimeout is negative: leave it out for 2 s")
	case cmd == nil || cmd.Path == "":
		return fault("there is no command: make one with exec.Command")
	case cmd.Process != nil:
		return fault("the command was started already: leave that to Run")
	}
	for _, f := range []struct {
		name string
		is   any
	}{{"Stdin", cmd.Stdin}, {"Stdout", cmd.Stdout}, {"Stderr", cmd.Stderr}} {
		if _, file := f.is.(*os.File); f.is != nil && !file {
			return fault(f.name + " of the command is not a file: give an *os.File, such as os." + f.name +
				" or the end of an os.Pipe")
		}
	}
	return nil
}

// Result is how a program has ended.
type Result struct {
	// Code is the exit code of the program as a shell has it: 128 plus the signal, if a signal has
	// killed it. -1 if it is not known: something else has waited for the program.
	Code int
	// Killed are the sessions that the guard has ended.
	Killed []Session
	// Left are the sessions that it could not end, with the reason: the TTL ends them.
	Left []Session
}

// Session is one session of the program.
type Session struct {
	Bucket   string
	Instance string
	Err      error         // why it was left
	Took     time.Duration // from the end of the program until its session was ended
}
