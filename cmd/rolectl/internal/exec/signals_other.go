//go:build !unix

package exec

import (
	"os"
	"syscall"
)

// ending are the signals beside INT and TERM that end a process which does not catch them.
var ending = []os.Signal{syscall.SIGHUP, syscall.SIGQUIT}

// passed are the signals that are passed on to the command.
var passed []os.Signal
