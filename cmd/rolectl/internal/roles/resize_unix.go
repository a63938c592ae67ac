//go:build unix

package roles

import (
	"os"
	"os/signal"
	"syscall"
)

// terminalResizes reports when the size of the terminal changes.
func terminalResizes() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
