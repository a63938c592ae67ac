package guard

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var (
	errChildren   = errors.New("what the program has started runs on, and is left alone: the TTL decides")
	errUnkillable = errors.New("what the program has started cannot be killed: the TTL decides")
)

// unkillable is how long after KILL a process may be there: the kernel keeps one that waits for a
// device.
const unkillable = 10 * time.Second

// busy is whether this process has a reaper: two would take each other's children.
var busy atomic.Bool

// family is the program and its descendants. Those whose parents have ended are children of this
// process, which is their subreaper.
type family struct {
	first chan end      // when the program itself has ended
	none  chan struct{} // closed when nobody is left
}

// end is how the program itself has ended.
type end struct {
	code int
	left bool // it has left somebody behind
}

// reap waits for all children until there are none. The goroutine ends with the last of them, or
// with the process.
func reap(program int) *family {
	f := &family{first: make(chan end, 1), none: make(chan struct{})}
	go func() {
		defer close(f.none)
		defer busy.Store(false)
		options, told, code := 0, false, -1 // somebody else may wait for the program, and get its code
		for {
			var status unix.WaitStatus
			pid, err := unix.Wait4(-1, &status, options, nil)
			switch {
			case errors.Is(err, unix.EINTR):
			case err != nil: // ECHILD: this process has no child, so no descendant
				if !told {
					f.first <- end{code, false}
				}
				return
			case pid == program:
				code, options = exitCode(status), unix.WNOHANG // look who is left, and do not wait
			case pid == 0:
				f.first <- end{code, true}
				told, options = true, 0
			}
		}
	}()
	return f
}

func exitCode(s unix.WaitStatus) int {
	if s.Signaled() {
		return 128 + int(s.Signal())
	}
	return s.ExitStatus()
}

// attend waits until the program has ended, passes signals on, and tells it to end when ctx ends.
func (f *family) attend(ctx context.Context, cfg Config, cmd *exec.Cmd) end {
	stopped, signals := ctx.Done(), cfg.Signals
	var late, stays <-chan time.Time
	for { // a signal fails only when the program has ended
		select {
		case e := <-f.first:
			return e
		case s, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			_ = cmd.Process.Signal(s)
		case <-stopped:
			stopped, late = nil, time.After(cfg.StopTimeout)
			_ = cmd.Process.Signal(unix.SIGTERM)
		case <-late:
			late, stays = nil, time.After(unkillable)
			_ = cmd.Process.Kill()
		case <-stays:
			return end{128 + int(unix.SIGKILL), true}
		}
	}
}

// sweep ends what the program has left behind, at once when there is a signal meanwhile. It reports
// whether nobody is left.
func (f *family) sweep(cfg Config) bool {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	signals, term := cfg.Signals, cfg.StopTimeout
	began := time.Now()
	signalAll(unix.SIGTERM)
	for {
		select {
		case <-f.none:
			return true
		case _, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			term = min(term, time.Since(began))
		case <-again.C:
		}
		switch since := time.Since(began); {
		case since > term+unkillable:
			return false
		case since > term: // again and again: a process may fork meanwhile
			signalAll(unix.SIGKILL)
		}
	}
}

// signalAll sends a signal to all descendants of this process.
func signalAll(s unix.Signal) {
	for _, pid := range descendants(os.Getpid()) {
		_ = unix.Kill(pid, s)
	}
}

// descendants lists the processes below one, as they are now.
func descendants(of int) (list []int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right, so there is no error
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil { // it has ended meanwhile
			continue
		}
		text, rest, _ := bytes.Cut(data, []byte(" "))
		// pid (name) state ppid ...: the name may hold anything, parentheses too
		fields := bytes.Fields(rest[bytes.LastIndexByte(rest, ')')+1:])
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(string(text))
		parent, _ := strconv.Atoi(string(fields[1]))
		children[parent] = append(children[parent], pid)
	}
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		list, next = append(list, pid), append(next[1:], children[pid]...)
	}
	return list
}
