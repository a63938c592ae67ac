package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// onTerminal starts rolectl on a terminal of 100 columns, or as many as the place says. Its output
// is what it shows.
func (p *place) onTerminal(args ...string) (*process, *os.File) {
	p.t.Helper()
	proc := &process{t: p.t, name: strings.Join(args, " "), cmd: exec.Command(binary, args...), done: make(chan struct{})}
	proc.cmd.Env = p.env
	columns := p.columns
	if columns == 0 {
		columns = 100
	}
	tty, err := pty.StartWithSize(proc.cmd, &pty.Winsize{Rows: 30, Cols: columns})
	if err != nil {
		p.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		_, _ = io.Copy(&proc.out, tty) // ends with an error when the process has: nobody holds the other side
		close(read)
	}()
	go func() {
		_ = proc.cmd.Wait()
		<-read
		close(proc.done)
	}()
	p.t.Cleanup(func() {
		_ = proc.cmd.Process.Kill()
		<-proc.done
		tty.Close()
	})
	return proc, tty
}

// typed writes to the terminal.
func typed(t *testing.T, tty *os.File, text string) {
	t.Helper()
	if _, err := tty.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
