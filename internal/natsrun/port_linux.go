package natsrun

import (
	"errors"
	"fmt"
	"syscall"
)

// heldPort is a port of loopback that stays with its server while the server is down. It is a
// socket that is bound and never listens: nobody reaches it, the system gives its port to nobody
// who asks for any, and the server can listen there, since both let the address be reused.
type heldPort struct{ fd int }

// holdPort takes a free port.
func holdPort() (p *heldPort, port int, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("natsrun: hold a port: %w", err)
	}
	p = &heldPort{fd}
	err = errors.Join(
		syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	bound, nameErr := syscall.Getsockname(fd)
	at, ok := bound.(*syscall.SockaddrInet4)
	if err = errors.Join(err, nameErr); err != nil || !ok {
		return nil, 0, errors.Join(fmt.Errorf("natsrun: hold a port: %w", err), p.release())
	}
	return p, at.Port, nil
}

// release gives the port back, once.
func (p *heldPort) release() error {
	if p == nil || p.fd < 0 {
		return nil
	}
	fd := p.fd
	p.fd = -1
	return syscall.Close(fd)
}
