//go:build linux || darwin

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread reports whether the other end of a pipe, a socket or a terminal is closed.
func unread(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
