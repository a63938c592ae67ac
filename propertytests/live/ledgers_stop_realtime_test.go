//go:build realtime

package live_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// stop stops a process that writes into the file behind the fence, at a moment when it does not
// hold the file's lock.
//
// The kernel keeps a lock for a process that is stopped with it: the next leader would wait in
// flock for the one that has been stopped, and the test for the next leader's entry. So the test
// takes the lock itself, and lets it go when all threads of the process stand still. A thread that
// waits in flock meanwhile is taken out of the line by the stop, and makes the call again when it
// continues.
func stop(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	lock, err := openFenced(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.file.Close() // it lets go of the lock
	fd := int(lock.file.Fd())
	natstest.Eventually(t, "the ledger's lock is free", patience, func() (bool, string) {
		err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			t.Fatal(err)
		}
		return err == nil, fmt.Sprint(err)
	})
	signalTo(t, cmd, syscall.SIGSTOP)
	natstest.Eventually(t, "every thread of the process has stopped", patience,
		func() (bool, string) { return stopped(t, cmd.Process.Pid) })
}

// stopped reports whether all threads of a process are in the state T of proc_pid_stat(5), and what
// it saw. A thread that runs may start another; those in T start none, so when the list is the same
// after they were seen there, it is all of them.
func stopped(t *testing.T, pid int) (all bool, seen string) {
	t.Helper()
	threads := threadsOf(t, pid)
	states := ""
	for _, thread := range threads {
		text, err := os.ReadFile(filepath.Join(thread, "stat"))
		if err != nil { // it has ended since it was listed
			return false, err.Error()
		}
		i := bytes.LastIndexByte(text, ')') // of the name, which may have anything in it
		if i < 0 || len(text) < i+3 {
			t.Fatalf("%s: %q", thread, text)
		}
		states += string(text[i+2])
	}
	all = len(threads) > 0 && strings.Trim(states, "T") == "" && slices.Equal(threads, threadsOf(t, pid))
	return all, fmt.Sprintf("%d threads, in the states %s", len(threads), states)
}

func threadsOf(t *testing.T, pid int) []string {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	return threads
}
