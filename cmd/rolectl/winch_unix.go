//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// windowChanges tells when the terminal has another size.
func windowChanges() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
