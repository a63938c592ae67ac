//go:build unix

package testbinary

import (
	"os/exec"
	"syscall"
)

// grouped has a test that is interrupted end with all that it has started: servers and processes
// that nobody would kill otherwise.
func grouped(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
