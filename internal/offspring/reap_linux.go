package offspring

import (
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Errors of Claim.
var (
	ErrUnsupported = errors.New("this system has no subreapers")
	ErrBusy        = errors.New("this process follows what it has started already")
)

// busy is whether this process has a reaper: two would take each other's children.
var busy atomic.Bool

// Claim makes this process the subreaper of what it starts from now on. Reap or Release ends the
// claim. Errors: ErrUnsupported, ErrBusy.
func Claim() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if busy.Swap(true) {
		return ErrBusy
	}
	return nil
}

// Release gives up a claim under which nothing was started.
func Release() { busy.Store(false) }

// Reap waits for all children of this process until there are none, under a Claim. The goroutine
// ends with the last of them, or with the process.
func Reap(program int) *Family {
	first, none := make(chan End, 1), make(chan struct{}) // one end, which does not wait for its reader
	go func() {
		defer close(none)
		defer Release()
		options, told, code := 0, false, -1 // somebody else may wait for the program, and get its code
		for {
			var status unix.WaitStatus
			pid, err := unix.Wait4(-1, &status, options, nil)
			switch {
			case errors.Is(err, unix.EINTR):
			case err != nil: // ECHILD: this process has no child, so no descendant
				if !told {
					first <- End{code, false}
				}
				return
			case pid == program:
				code, options = exitCode(status), unix.WNOHANG // look who is left, and do not wait
			case pid == 0:
				first <- End{code, true}
				told, options = true, 0
			}
		}
	}()
	return &Family{first, none}
}

func exitCode(s unix.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}
