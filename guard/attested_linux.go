package guard

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/internal/witness"
)

// attested is a connection to the socket of a guard. Its packets are those of one process, the
// sender of the first one: the kernel says with each packet which process has sent it. That process
// need not be the one that has connected.
type attested struct {
	conn   *net.UnixConn
	logger *slog.Logger

	known   chan struct{} // closed when process or err is set, or there is no packet
	process *witness.Process
	err     error
	foreign bool // another process has spoken too, and that was said
}

// The kernel passes the credentials and a pidfd of the sender with each packet.
const attestation = 64

var (
	errUnknown = errors.New("the kernel does not say which process has sent this")
	errForeign = errors.New("a second process speaks on the connection of another one: each has to connect itself")
)

// Read takes the next packet of the process, for as long as its end can be seen.
func (a *attested) Read(packet []byte) (int, error) {
	for {
		n, err := a.next(packet)
		if err != nil {
			a.decide(nil, nil)
		}
		if err != nil || n > 0 {
			return n, err
		}
	}
}

// next takes a packet. One that counts for nothing has no length.
func (a *attested) next(packet []byte) (int, error) {
	control := make([]byte, unix.CmsgSpace(attestation)+unix.CmsgSpace(attestation))
	n, size, _, _, err := a.conn.ReadMsgUnix(packet, control)
	if err != nil {
		return 0, err
	}
	pid, pidfd := senderOf(control[:size])
	if pidfd != nil && (n == 0 || a.decided()) {
		pidfd.Close()
	}
	switch {
	case n == 0:
		return 0, io.EOF
	case a.decided():
	case pid <= 0 || pidfd == nil:
		a.decide(nil, errUnknown)
	default:
		process, err := witness.Watch(pid, pidfd)
		a.decide(process, err)
	}
	if a.process == nil {
		return 0, nil
	}
	// While the process has not ended, nobody else has its number. Later another one may, which was
	// given this connection by it, and so is in its scope.
	if pid != a.process.Pid {
		if !a.foreign {
			a.foreign = true
			a.logger.Warn("guard: a word was not taken: the TTL decides about that session", "err", errForeign, "pid", pid)
		}
		return 0, nil
	}
	return n, nil
}

func (a *attested) decided() bool {
	select {
	case <-a.known:
		return true
	default:
		return false
	}
}

// decide is called by the reader alone.
func (a *attested) decide(p *witness.Process, err error) {
	if !a.decided() {
		a.process, a.err = p, err
		close(a.known)
	}
}

func (a *attested) SetReadDeadline(t time.Time) error { return a.conn.SetReadDeadline(t) }
func (a *attested) Close() error                      { return a.conn.Close() }

// senderOf reads what the kernel says about the sender of a packet. Descriptors that the sender has
// passed are closed.
func senderOf(control []byte) (pid int, pidfd *os.File) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, nil
	}
	for _, m := range messages {
		if m.Header.Level != unix.SOL_SOCKET {
			continue
		}
		switch m.Header.Type {
		case unix.SCM_CREDENTIALS:
			if c, err := unix.ParseUnixCredentials(&m); err == nil {
				pid = int(c.Pid)
			}
		case unix.SCM_PIDFD:
			if len(m.Data) < 4 {
				continue
			}
			if fd := int32(binary.NativeEndian.Uint32(m.Data)); fd >= 0 { // else it has been reaped already
				pidfd = os.NewFile(uintptr(fd), "sender")
			}
		case unix.SCM_RIGHTS:
			fds, _ := unix.ParseUnixRights(&m)
			for _, fd := range fds {
				_ = unix.Close(fd)
			}
		}
	}
	return pid, pidfd
}
