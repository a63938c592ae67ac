package supervise

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/internal/offspring"
)

// zombie is the state of a dead process that was not waited for (SZOMB in sys/proc.h).
const zombie = 5

// members lists the live members of a process group.
func members(group int) (list []int) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return nil
	}
	for _, p := range all {
		if p.Proc.P_stat != zombie {
			list = append(list, int(p.Proc.P_pid))
		}
	}
	return list
}

// There are no subreapers here: a process that leaves the group is not followed.
func claim() error { return nil }
func release()     {}

// follow follows a program that was started, and the others in its group but the guard, which leads
// it.
func follow(cmd *exec.Cmd, group int) *offspring.Family {
	first, none := make(chan offspring.End, 1), make(chan struct{})
	left := func() bool {
		all := members(group)
		return len(all) > 1 || len(all) == 1 && all[0] != group
	}
	go func() { // ends with the last of them
		defer close(none)
		err := cmd.Wait()
		first <- offspring.End{Code: code(cmd.ProcessState, err), Left: left()}
		for left() {
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return &offspring.Family{First: first, None: none}
}

// signalAll sends a signal to all processes of the group but one.
func signalAll(s syscall.Signal, but, group int) {
	for _, pid := range members(group) {
		if pid != but {
			_ = syscall.Kill(pid, s)
		}
	}
}

// code returns the exit code of a command as a shell reports it: 128 plus the signal for a killed
// command.
func code(state *os.ProcessState, err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		state = exit.ProcessState
	}
	if state == nil {
		return 1
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
