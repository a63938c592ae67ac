//go:build unix

package guard

import (
	"os"
	"syscall"
)

// always are passed on to the program in any case, fromTerminal only if no terminal sends them.
var (
	always = []os.Signal{
		syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
		syscall.SIGABRT, // systemd sends it to the guard when the program shows no signs of life
	}
	fromTerminal = []os.Signal{syscall.SIGINT, syscall.SIGQUIT}
)
