package supervise

import (
	"os/exec"
	"syscall"

	"github.com/rolemanager/rolemanager/internal/offspring"
)

// claim is called before the program of a family is started, and release when it was not.
func claim() error { return offspring.Claim() }
func release()     { offspring.Release() }

// follow follows a program that was started, and all its descendants.
func follow(cmd *exec.Cmd, _ int) *offspring.Family { return offspring.Reap(cmd.Process.Pid) }

// signalAll sends a signal to all that this process has started, but to one process. The group is
// of no concern: all its members are descendants.
func signalAll(s syscall.Signal, but, _ int) { offspring.Signal(s, but) }
