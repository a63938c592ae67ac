package witness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cgroup makes a cgroup, and ends all in it when the test ends.
func cgroup(t *testing.T) string {
	t.Helper()
	root, err := mountPoint()
	if err != nil {
		t.Skip(err)
	}
	path, err := os.MkdirTemp(root, "witness-")
	if err != nil {
		t.Skip(err) // no right to make one
	}
	t.Cleanup(func() {
		killAll(t, path)
		for range 1000 {
			if os.Remove(path) == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Errorf("%s is left", path)
	})
	return path
}

func killAll(t *testing.T, cgroup string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(cgroup, "cgroup.kill"), []byte("1"), 0o600); err != nil {
		t.Error(err)
	}
}

// run runs a script, in a cgroup if one is given, and returns when it has said something.
func run(t *testing.T, cgroup, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if cgroup != "" {
		dir, err := os.Open(cgroup)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	}
	said, says, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout = says
	err = cmd.Start()
	says.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() }) // it has ended, as a rule
	if _, err := said.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func pidfd(t *testing.T, pid int) *os.File {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "pidfd")
}

func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// TestEndOfACgroup: a process is gone when its cgroup is empty, and not when it has ended itself: a
// child that has left its session runs on, or one that forks all the time. So it is by the file of
// the cgroup, and by the names of all processes.
func TestEndOfACgroup(t *testing.T) {
	for name, script := range map[string]string{
		"left its session": "setsid --fork sleep 1000; echo; exec sleep 1000",
		// Each one forks the next one, and ends.
		"forks": `export HOP='sleep 0.002; sh -c "$HOP" & exit'; setsid --fork sh -c "$HOP"; echo; exec sleep 1000`,
	} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by name %t", name, named), func(t *testing.T) {
				t.Parallel() // it waits most of the time
				endOfACgroup(t, script, named)
			})
		}
	}
}

func endOfACgroup(t *testing.T, script string, named bool) {
	path := cgroup(t)
	cmd := run(t, path, script)
	p, err := Watch(cmd.Process.Pid, pidfd(t, cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, ok := p.scope.(*cgroupScope); !ok {
		t.Fatalf("its scope is %T", p.scope)
	}
	if named {
		p.scope.close()
		root, _ := mountPoint()
		p.scope = namedScope{"": strings.TrimPrefix(path, root)}
	}
	end(t, cmd)
	if err := p.Ended(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Emptied(t.Context(), 300*time.Millisecond); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("others run on: %v", err)
	}
	killAll(t, path)
	if err := p.Emptied(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
}

// TestACgroupThatIsRemoved was empty.
func TestACgroupThatIsRemoved(t *testing.T) {
	root, err := mountPoint()
	if err != nil {
		t.Skip(err)
	}
	path, err := os.MkdirTemp(root, "witness-")
	if err != nil {
		t.Skip(err)
	}
	cmd := run(t, path, "echo; exec sleep 1000")
	p, err := Watch(cmd.Process.Pid, pidfd(t, cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	end(t, cmd)
	for os.Remove(path) != nil {
		time.Sleep(time.Millisecond)
	}
	if err := p.Emptied(t.Context(), time.Second); err != nil {
		t.Error(err)
	}
}

// TestNumbersThatAreGivenAgain: the number of a process may be another one's by the time that it is
// looked at.
func TestNumbersThatAreGivenAgain(t *testing.T) {
	old := run(t, cgroup(t), "echo; exec sleep 1000")
	ended := pidfd(t, old.Process.Pid)
	end(t, old)
	now := run(t, cgroup(t), "echo; exec sleep 1000") // as if it had the number of the one before
	if _, err := Watch(now.Process.Pid, ended); !errors.Is(err, ErrEnded) {
		t.Errorf("%v", err)
	}
	ended = pidfd(t, now.Process.Pid)
	end(t, now)
	if _, err := Watch(now.Process.Pid, ended); !errors.Is(err, ErrEnded) { // nobody has it
		t.Errorf("%v", err)
	}
}

// TestItsOwnCgroupIsNoEvidence: it never becomes empty.
func TestItsOwnCgroupIsNoEvidence(t *testing.T) {
	cmd := run(t, "", "echo; exec sleep 1000")
	if _, err := Watch(cmd.Process.Pid, pidfd(t, cmd.Process.Pid)); !errors.Is(err, ErrShared) {
		t.Errorf("%v", err)
	}
}
