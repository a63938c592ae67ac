//go:build linux || darwin

package supervise

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Command is what to run.
type Command struct {
	Path   string
	Args   []string // the first one is the name of the program
	Env    []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// start runs c in the process group of a guard.
func (c Command) start(group int) (*exec.Cmd, error) {
	cmd := &exec.Cmd{
		Path: c.Path, Args: c.Args, Env: c.Env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pgid: group},
	}
	return cmd, cmd.Start()
}

// code returns the exit code of a command as a shell reports it: 128 plus the signal for a killed
// command.
func code(state *os.ProcessState, err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		state = exit.ProcessState
	}
	if state == nil {
		return 1
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
