package main

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

// TestInputThatDoesNotEnd: reading standard input ends with a signal, and with the timeout that was
// given.
func TestInputThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	for _, line := range []string{"tasks submit -n jobs echo -", "tasks cron set -n jobs hourly echo @hourly -"} {
		late := p.reading(append(strings.Fields(line), "--timeout", "100ms")...)
		const says = "standard input has not ended within 100ms"
		if r := late.wait(); r.code != cli.ExitFailed || !strings.Contains(r.errors, says) {
			t.Errorf("%s: exit %d, %q", line, r.code, r.errors)
		}
		for s, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
			interrupted := p.reading(strings.Fields(line)...)
			interrupted.signal(s)
			if r := interrupted.wait(); r.code != code || !strings.Contains(r.errors, "interrupted") {
				t.Errorf("%s, %v: exit %d, %q", line, s, r.code, r.errors)
			}
		}
	}
}

// reading starts a command, and returns when it reads its standard input, which does not end.
func (p *place) reading(args ...string) *process {
	p.t.Helper()
	proc := &process{t: p.t, name: strings.Join(args, " "), cmd: exec.Command(binary, args...), done: make(chan struct{})}
	proc.cmd.Env, proc.cmd.Stdout, proc.cmd.Stderr = p.env, &proc.out, &proc.errs
	in, err := proc.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	proc.begin()
	if _, err := in.Write(bytes.Repeat([]byte{' '}, 256<<10)); err != nil { // more than a pipe holds
		p.t.Log(err) // it has ended already
	}
	return proc
}
