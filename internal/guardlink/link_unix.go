//go:build unix

package guardlink

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Link is the line to the guard of this process: a descriptor that the guard has passed on, or a
// socket at which one listens.
type Link struct {
	fd   int
	dial *dialer
}

var (
	present *Link
	problem error
)

// The descriptor is taken before anything of the process may start a child.
func init() {
	present, problem = take(os.Getenv(Env))
	if path := os.Getenv(SocketEnv); path != "" && present == nil && problem == nil {
		present = &Link{dial: &dialer{path: path, fd: -1}}
	}
}

// Present returns the line to the guard of this process, nil when it has none. The error says why a
// line that the environment names cannot be used.
func Present() (*Link, error) { return present, problem }

func take(value string) (*Link, error) {
	if value == "" {
		return nil, nil
	}
	_ = os.Unsetenv(Env)
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%s=%q does not name a file descriptor: start this process by \"rolectl guard\"", Env, value)
	}
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET {
		return nil, fmt.Errorf("%s=%d is not the line to a guard: it was inherited by a process that the guard does not "+
			"know; unset it, or start this process by \"rolectl guard\"", Env, fd)
	}
	unix.CloseOnExec(fd)
	return &Link{fd: fd}, nil
}

// ErrGone means that the guard has ended, or that nobody listens at its socket. The process
// continues without one.
var ErrGone = errors.New("the guard has ended: from now on the TTL decides")

// ErrBusy means that the guard does not read: the word is lost to it.
var ErrBusy = errors.New("the guard does not read")

// Tell sends a message, and does not wait. Errors: ErrGone, ErrBusy, ErrMessage.
func (l *Link) Tell(m Message) error {
	b, err := m.Encode()
	if err != nil {
		return err
	}
	if l.dial != nil {
		return l.dial.send(b)
	}
	return send(l.fd, b)
}

func send(fd int, b []byte) error {
	for {
		switch err := unix.Sendto(fd, b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil); {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOBUFS):
			return ErrBusy
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.ENOTCONN):
			return ErrGone
		default:
			return fmt.Errorf("tell the guard: %w", err)
		}
	}
}
