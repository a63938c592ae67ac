package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/internal/guardlink"
	"github.com/rolemanager/rolemanager/internal/offspring"
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
	switch err := offspring.Claim(); {
	case errors.Is(err, offspring.ErrBusy):
		return Result{}, fmt.Errorf("%w: this process guards a program already, or what that has left behind: "+
			"guard each program in a process of its own", ErrConfig)
	case err != nil:
		return Result{}, fmt.Errorf("%w: %w: start the program without a guard", ErrUnsupported, err)
	}
	ours, theirs, err := socketPair()
	if err != nil {
		offspring.Release()
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
		offspring.Release()
		return Result{}, fmt.Errorf("guard: start %s: %w", cmd.Path, err)
	}
	l := listen(cfg, ours)
	defer l.close()
	family := offspring.Reap(cmd.Process.Pid)
	first := attend(ctx, family, cfg, cmd)
	at, result := time.Now(), Result{Code: first.Code}
	switch {
	case !first.Left:
		<-family.None // it comes at once, and then this process may guard another one
	case cfg.LeaveChildren:
		result.Left = l.leave(errChildren)
		return result, nil
	case !sweep(family, cfg):
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
