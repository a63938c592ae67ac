//go:build !unix

package guard

import (
	"os"
	"syscall"
)

// always are passed on to the program in any case, fromTerminal only if no terminal sends them.
var (
	always       = []os.Signal{syscall.SIGTERM}
	fromTerminal = []os.Signal{os.Interrupt}
)
