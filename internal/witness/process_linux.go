package witness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a process that is watched, and its scope.
type Process struct {
	Pid   int // for people
	pidfd *os.File
	scope scope
}

// scope is all that may act for a process.
type scope interface {
	// empty reports whether nobody is left in it.
	empty() (bool, error)
	close()
}

// Errors of Watch and Gone. Nothing is known of the end of the process then.
var (
	ErrEnded    = errors.New("it has ended before its cgroup was known")
	ErrShared   = errors.New("it is in the cgroup and PID namespace of its guard, which are never empty")
	ErrHidden   = errors.New("/proc does not show all processes of this PID namespace")
	ErrNotEmpty = errors.New("others of its cgroup or PID namespace run on")
)

// Watch takes a pidfd, and closes it. pid is the number that it had. An error says why the end of
// the process could not be seen to the last of its scope.
func Watch(pid int, pidfd *os.File) (*Process, error) {
	p := &Process{Pid: pid, pidfd: pidfd}
	s, err := p.find()
	if err == nil && p.ended() { // what was read may be another one's of this number
		s.close()
		err = ErrEnded
	}
	if err != nil {
		pidfd.Close()
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	p.scope = s
	return p, nil
}

// find finds the scope, by what the kernel says about the number of the process.
func (p *Process) find() (scope, error) {
	if err := whole(); err != nil {
		return nil, err
	}
	inner, err := namespace(p.Pid)
	if err != nil {
		return nil, err
	}
	if len(inner) > 1 {
		if s, err := namespaceOf(p.Pid, inner); err == nil {
			return s, nil
		}
	}
	return cgroupOf(p.Pid)
}

func (p *Process) ended() bool { return ended(int(p.pidfd.Fd())) }

// ended reports whether no thread of a process runs any more.
func ended(pidfd int) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return n == 1 && fds[0].Revents&(unix.POLLIN|unix.POLLHUP) != 0
		}
	}
}

// The pauses between two looks at a scope that is not empty yet.
const (
	shortestLook = time.Millisecond
	longestLook  = 100 * time.Millisecond
)

// Ended waits until the process itself has ended. Errors: that of ctx.
func (p *Process) Ended(ctx context.Context) error {
	over := make(chan struct{})
	stopped, stop, err := os.Pipe() // it ends the wait
	if err != nil {
		return err
	}
	defer stopped.Close()
	go func() { // joined below: the end of the pipe ends it
		defer close(over)
		fds := []unix.PollFd{
			{Fd: int32(p.pidfd.Fd()), Events: unix.POLLIN}, {Fd: int32(stopped.Fd()), Events: unix.POLLIN},
		}
		for {
			if _, err := unix.Poll(fds, -1); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	stop.Close()
	<-over
	if p.ended() {
		return nil
	}
	return ctx.Err()
}

// Emptied waits until nobody of the scope is left, and not longer than within. Errors: that of ctx,
// ErrNotEmpty, and those of reading.
func (p *Process) Emptied(ctx context.Context, within time.Duration) error {
	for began, pause := time.Now(), shortestLook; ; pause = min(2*pause, longestLook) {
		switch empty, err := p.scope.empty(); {
		case err != nil:
			return fmt.Errorf("process %d: %w", p.Pid, err)
		case empty:
			return nil
		case time.Since(began) > within:
			return fmt.Errorf("process %d: %w", p.Pid, ErrNotEmpty)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Close lets go of the process.
func (p *Process) Close() {
	p.pidfd.Close()
	p.scope.close()
}
