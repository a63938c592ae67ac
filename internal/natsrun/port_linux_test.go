package natsrun

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestHeldPort: the port of a server that is down is given to nobody, and refuses clients. It comes
// back with the server, and is free after Shutdown.
func TestHeldPort(t *testing.T) {
	s, err := Start(Options{Listen: true})
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	for range 3 {
		s.Stop()
		if err := take(s.port); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("another process is given the port: %v", err)
		}
		if _, err := net.DialTimeout("tcp", address, time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a client of a server that is down: %v", err)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	for range 2 {
		if err := s.Shutdown(); err != nil {
			t.Fatal(err)
		}
	}
	// Connections that have ended keep the port from those that do not share it.
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("after Shutdown: %v", err)
	}
	_ = l.Close()
}

// take binds a port and does not share it, like a connection.
func take(port int) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}
