//go:build linux

package main

import (
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
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
	thorough.Only(t, "it waits for leases")
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	for _, guard := range []bool{false, true} {
		first, second := newBeats(t), newBeats(t)
		a := p.start("exec", "scheduler", "--ttl", "6s", "--instance", "a", "--stop-timeout", "100ms", "--", "sh", "-c",
			`echo "group $(ps -o pgid= -p $$)"; `+first.daemon()+"; wait; sleep 1000")
		a.says(&a.out, "\n")
		first.begun()
		b := p.start("exec", "scheduler", "--ttl", "6s", "--instance", "b", "--", "sh", "-c", second.beating())
		p.next("b")
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
		"trap 'echo told' USR1; trap 'exit 9' USR2; echo on; sleep 1000 & while :; do wait; done")
	e.says(&e.out, "on\n")
	e.signal(syscall.SIGUSR1)
	e.says(&e.out, "told\n")
	e.signal(syscall.SIGUSR2)
	if r := e.wait(); r.code != 9 || strings.Count(r.out, "told") != 1 {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.errors)
	}
}
