package guard

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/internal/guardlink"
)

// Run starts cmd, and returns when it and all its descendants have ended and its sessions are ended
// or left. When ctx ends, the program gets TERM, and KILL after StopTimeout; so do the processes
// that it has left behind.
//
// Run makes this process the subreaper of all that it starts, and waits for every child: call it in
// a process that has no other children, and once at a time. Stdin, Stdout and Stderr of cmd are
// files or nil. Errors: ErrConfig, ErrUnsupported, and those of starting the program.
func Run(ctx context.Context, cfg Config, cmd *exec.Cmd) (Result, error) {
	if err := cfg.check(cmd); err != nil {
		return Result{}, err
	}
	cfg = cfg.withDefaults()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if busy.Swap(true) {
		return Result{}, fmt.Errorf("%w: this process guards a program already, or what that has left behind: "+
			"guard each program in a process of its own", ErrConfig)
	}
	ours, theirs, err := socketPair()
	if err != nil {
		busy.Store(false)
		return Result{}, err
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, guardlink.Env+"="+strconv.Itoa(2+len(cmd.ExtraFiles)))
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		ours.Close()
		busy.Store(false)
		return Result{}, fmt.Errorf("guard: start %s: %w", cmd.Path, err)
	}
	l := listen(cfg, ours)
	defer l.close()
	family := reap(cmd.Process.Pid)
	first := family.attend(ctx, cfg, cmd)
	at, result := time.Now(), Result{Code: first.code}
	switch {
	case !first.left:
		<-family.none // it comes at once, and then this process may guard another one
	case cfg.LeaveChildren:
		result.Left = l.leave(errChildren)
		return result, nil
	case !family.sweep(cfg):
		result.Left = l.leave(errUnkillable)
		return result, nil
	}
	result.Killed, result.Left = l.end(cfg, at)
	return result, nil
}

// socketPair returns the two ends of the line. The program inherits the second one.
func socketPair() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("guard: make a line to the program: %w", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil { // so that a read has a deadline
		_, _ = unix.Close(pair[0]), unix.Close(pair[1])
		return nil, nil, fmt.Errorf("guard: make a line to the program: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "program"), os.NewFile(uintptr(pair[1]), "guard"), nil
}
