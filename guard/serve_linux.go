package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/internal/guardlink"
)

// mostProcesses bounds how many processes are guarded at a time, and mostWaiting how long the guard
// waits until nobody is left where a process was: by then its lease has run out.
const (
	mostProcesses = 4096
	mostWaiting   = 10 * time.Minute
)

// Serve guards the processes that name the socket in ROLES_GUARD_SOCKET, until ctx ends. It is for
// several programs on one machine, and for a sidecar whose PID namespace the pod shares. ended is
// called with what has become of the sessions of a process; its Code is -1.
//
// The sessions of a process are ended when it has ended, and nobody is left in its cgroup or PID
// namespace, which must not be those of the guard. Where that cannot be seen, nothing is written,
// and the Logger says so. On a kernel before 6.5 it returns ErrUnsupported at once. Run needs no
// such kernel.
//
// All that may write to the socket may name any lease, so give it to those alone that you trust
// with the roles: SocketMode. StopTimeout, LeaveChildren and Signals are of no concern. Errors:
// ErrConfig, ErrUnsupported, and those of the socket.
func Serve(ctx context.Context, cfg Config, socket string, ended func(Result)) error {
	if cfg.Conn == nil {
		return fmt.Errorf("%w: Conn is nil: give the guard a connection of its own", ErrConfig)
	}
	if cfg.WriteTimeout < 0 {
		return fmt.Errorf("%w: WriteTimeout is negative: leave it out for 2 s", ErrConfig)
	}
	cfg = cfg.withDefaults()
	l, err := open(socket, cfg.SocketMode)
	if err != nil {
		return err
	}
	cfg.Logger.Info("guard: listens, for those that have the socket in their environment", guardlink.SocketEnv, socket)
	s := server{cfg: cfg, ended: ended, free: make(chan struct{}, mostProcesses)} // one place for each
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer s.wg.Wait()
	defer l.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		conn, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed): // ctx has ended
			return nil
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			cfg.Logger.Warn("guard: a process cannot be heard: the TTL decides", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		case err != nil:
			return fmt.Errorf("guard: listen at %s: %w", socket, err)
		}
		select {
		case s.free <- struct{}{}:
			s.wg.Go(func() {
				defer func() { <-s.free }()
				s.attend(ctx, conn)
			})
		default:
			cfg.Logger.Warn("guard: too many processes at once: the TTL decides about one", "most", mostProcesses)
			conn.Close()
		}
	}
}

// open makes the socket, in the place of one that nobody listens at any more.
func open(path string, mode os.FileMode) (*net.UnixListener, error) {
	at := &net.UnixAddr{Name: path, Net: "unixpacket"}
	if is, err := os.Lstat(path); err == nil && is.Mode()&os.ModeSocket != 0 {
		c, err := net.DialUnix("unixpacket", nil, at)
		if err == nil {
			c.Close()
			return nil, fmt.Errorf("%w: another guard listens at %s: give another path", ErrConfig, path)
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path) // else listening fails, and says why
		}
	}
	l, err := net.ListenUnix("unixpacket", at)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	raw, err := l.SyscallConn()
	if err == nil {
		err = errors.Join(raw.Control(func(fd uintptr) { // those that connect inherit both
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
			if err == nil {
				err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSPIDFD, 1)
			}
		}), err)
	}
	if errors.Is(err, unix.ENOPROTOOPT) {
		err = fmt.Errorf("%w: a socket for several processes needs Linux 6.5: "+
			"run each of them under rolectl guard -- PROGRAM (guard.Run), which does not", ErrUnsupported)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// server guards the processes at a socket.
type server struct {
	cfg   Config
	ended func(Result)
	free  chan struct{}
	wg    sync.WaitGroup
	one   sync.Mutex // one call of ended at a time
}

// attend guards the process that speaks on a connection.
func (s *server) attend(ctx context.Context, conn *net.UnixConn) {
	a := &attested{conn: conn, logger: s.cfg.Logger, known: make(chan struct{})}
	l := listen(s.cfg, a)
	defer l.close()
	select {
	case <-a.known:
	case <-ctx.Done():
		return
	}
	if a.err != nil {
		s.cfg.Logger.Warn("guard: the end of a process cannot be seen: the TTL decides", "err", a.err)
		select { // else it would connect again and again
		case <-l.heard:
		case <-ctx.Done():
		}
	}
	if a.process == nil {
		return
	}
	defer a.process.Close()
	s.cfg.Logger.Info("guard: guards a process", "pid", a.process.Pid)
	if a.process.Ended(ctx) != nil {
		return
	}
	at, result := time.Now(), Result{Code: -1}
	switch err := a.process.Emptied(ctx, mostWaiting); {
	case ctx.Err() != nil:
		return
	case err != nil:
		result.Left = l.leave(errors.Join(errNotEmpty, err))
	default:
		result.Killed, result.Left = l.end(s.cfg, at)
	}
	if len(result.Killed)+len(result.Left) > 0 && s.ended != nil {
		s.one.Lock()
		defer s.one.Unlock()
		s.ended(result)
	}
}

var errNotEmpty = errors.New("the process has ended, and it is not known that nothing of it runs on: the TTL decides")
