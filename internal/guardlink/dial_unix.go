//go:build unix

package guardlink

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// dialer is the line to a guard that listens at a socket. A guard that comes back is found again:
// each beat tells it all that it has to know.
type dialer struct {
	path string

	mu    sync.Mutex
	fd    int       // -1: there is no connection
	after time.Time // no attempt before
}

// redial is the pause between two attempts.
const redial = 500 * time.Millisecond

// send sends a packet, and does not wait: neither does connecting to a socket of this machine.
func (d *dialer) send(b []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for range 2 {
		if err := d.connect(); err != nil {
			return err
		}
		err := send(d.fd, b)
		if err == nil || errors.Is(err, ErrBusy) {
			return err
		}
		if !errors.Is(err, ErrGone) { // something in this process has closed the descriptor: it is not ours any more
			d.fd = -1
			return err
		}
		_ = unix.Close(d.fd)
		d.fd = -1
	}
	return ErrGone
}

func (d *dialer) connect() error {
	now := time.Now()
	if d.fd >= 0 {
		return nil
	}
	if now.Before(d.after) {
		return ErrGone
	}
	d.after = now.Add(redial)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		return fmt.Errorf("connect to the guard at %s: %w", d.path, err)
	}
	unix.CloseOnExec(fd)
	if err = unix.SetNonblock(fd, true); err == nil {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: d.path})
	}
	if err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("%w (connect to %s: %w)", ErrGone, d.path, err)
	}
	d.fd = fd
	return nil
}
