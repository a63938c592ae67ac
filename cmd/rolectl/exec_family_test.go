//go:build linux

package main

import (
	"net"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// daemon is a script that starts a process in a session of its own, which ignores TERM.
func (b beats) daemon() string {
	return "setsid --fork sh -c '" + strings.ReplaceAll(b.stubborn(), "'", `'\''`) + "'; " + b.wait()
}

// TestExecFollowsDaemons: what has left the process group of the command ends with it, before the
// role is given up.
func TestExecFollowsDaemons(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	beats := newBeats(t)
	r := p.run("exec", "scheduler", "--stop-timeout", "100ms", "--", "sh", "-c", beats.daemon()+"; exit 5")
	if r.code != 5 {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	if beats.lives() {
		t.Error("the daemon lives on")
	}
}

// TestExecFollowsDaemonsInAnyCase: also when rolectl or its guard is killed.
func TestExecFollowsDaemonsInAnyCase(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	for _, guard := range []bool{false, true} {
		first, second := newBeats(t), newBeats(t)
		a := p.start("exec", "scheduler", "--ttl", "2s", "--instance", "a", "--stop-timeout", "100ms", "--", "sh", "-c",
			`echo "group $(ps -o pgid= -p $$)"; `+first.daemon()+"; wait; sleep 1000")
		a.says(&a.out, "\n")
		first.begun()
		b := p.start("exec", "scheduler", "--ttl", "2s", "--instance", "b", "--", "sh", "-c", second.beating())
		b.says(&b.errs, "contends for scheduler")
		if guard {
			a.killGroupLeader()
		} else {
			a.signal(syscall.SIGKILL)
		}
		second.begun()
		a.wait()
		old := first.times()
		if last, next := old[len(old)-1], second.times()[0]; last >= next {
			t.Errorf("guard killed %v: the daemon of the former leader ran beside the next one's command", guard)
		}
		if first.lives() {
			t.Errorf("guard killed %v: the daemon lives on", guard)
		}
		b.signal(syscall.SIGTERM)
		b.wait()
	}
}

// TestExecPassesSignalsOn to the command itself, once.
func TestExecPassesSignalsOn(t *testing.T) {
	if signal.Ignored(syscall.SIGUSR1) {
		t.Skip("USR1 is ignored here, and so by all that the test starts")
	}
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	e := p.start("exec", "scheduler", "-q", "--", "sh", "-c",
		"trap 'echo told' USR1; trap 'exit 9' USR2; echo on; while :; do sleep 0.05; done")
	e.says(&e.out, "on\n")
	e.signal(syscall.SIGUSR1)
	e.says(&e.out, "told\n")
	e.signal(syscall.SIGUSR2)
	if r := e.wait(); r.code != 9 || strings.Count(r.out, "told") != 1 {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.errors)
	}
}

// TestExecTellsSystemd, and the command does not speak in its place.
func TestExecTellsSystemd(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	socket := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	conn, err := net.ListenUnixgram("unixgram", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	heard := make(chan string, 10_000)
	go func() { // reads all the time, as a service manager does; ends with the socket
		defer close(heard)
		for b := make([]byte, 4096); ; {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			heard <- string(b[:n])
		}
	}()
	hears := func(text string) {
		t.Helper()
		for late := time.After(patience); ; {
			select {
			case said := <-heard:
				if strings.Contains(said, text) {
					return
				}
			case <-late:
				t.Fatalf("%q was not heard", text)
			}
		}
	}
	mine := &place{t: t, server: p.server, env: append(p.env, "NOTIFY_SOCKET="+socket.Name, "WATCHDOG_USEC=60000")}
	e := mine.start("exec", "scheduler", "--", "sh", "-c", `echo "told: $NOTIFY_SOCKET."; sleep 1000`)
	hears("READY=1\nSTATUS=leads scheduler@")
	hears("WATCHDOG=1")
	e.says(&e.out, "told: .\n")
	e.signal(syscall.SIGTERM)
	hears("STOPPING=1\nEXTEND_TIMEOUT_USEC=")
	e.wait()
}
