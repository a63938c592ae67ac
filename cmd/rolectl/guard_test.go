//go:build linux

package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestGuardPassesOn(t *testing.T) {
	t.Parallel()
	p := at(t)
	for script, code := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143} {
		if r := p.run("guard", "--", "sh", "-c", script); r.code != code || r.errors != "" {
			t.Errorf("%s: exit %d, want %d; %s", script, r.code, code, r.errors)
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGABRT} {
		if signal.Ignored(s) { // as under nohup, and so by all that the test starts
			continue
		}
		name := map[syscall.Signal]string{
			syscall.SIGTERM: "TERM", syscall.SIGINT: "INT", syscall.SIGHUP: "HUP", syscall.SIGUSR1: "USR1",
			syscall.SIGABRT: "ABRT",
		}[s]
		g := p.start("guard", "--", "sh", "-c",
			"trap 'echo told; exit 9' "+name+"; echo on; sleep 1000 & while :; do wait; done")
		g.says(&g.out, "on\n")
		g.signal(s)
		if r := g.wait(); r.code != 9 || strings.Count(r.out, "told") != 1 {
			t.Errorf("%v: exit %d, %s%s", s, r.code, r.out, r.errors)
		}
	}
	for _, args := range [][]string{
		{"guard"}, {"guard", "true"}, {"guard", "x", "--", "true"}, {"guard", "--listen", "x", "--", "true"},
	} {
		if r := p.run(args...); r.code != cli.ExitUsage || !strings.Contains(r.errors, "rolectl guard -- PROGRAM") {
			t.Errorf("%v: exit %d, %s", args, r.code, r.errors)
		}
	}
	if r := p.run("guard", "--", "no-such-program"); r.code != 127 || strings.Count(r.errors, "\n") != 1 {
		t.Errorf("a program that is not there: exit %d, %q", r.code, r.errors)
	}
}

// TestGuardLeavesNobodyBehind: what the program has started in the background ends with it, also
// what has left its process group and ignores TERM.
func TestGuardLeavesNobodyBehind(t *testing.T) {
	t.Parallel()
	p := at(t)
	beats := newBeats(t)
	script := "setsid --fork sh -c '" + strings.ReplaceAll(beats.stubborn(), "'", `'\''`) + "'; " + beats.wait() + "; exit 5"
	if r := p.run("guard", "--stop-timeout", "100ms", "--", "sh", "-c", script); r.code != 5 {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	if beats.lives() {
		t.Error("what the program has started lives on")
	}
}

// TestGuardFreesTheRoles of a program that dies. No test waits for its TTL.
func TestGuardFreesTheRoles(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles", "--max-ttl", "10m")
	g := p.start("guard", "--stop-timeout", "100ms", "--", "sh", "-c",
		`echo pid $$.; exec "$0" exec scheduler --instance a --ttl 10m -- sh -c 'echo leads; sleep 1000'`, binary)
	g.says(&g.out, "leads\n")
	_, rest, _ := strings.Cut(g.out.String(), "pid ")
	pid, err := strconv.Atoi(rest[:strings.IndexByte(rest, '.')])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := g.wait(); r.code != 137 || strings.Count(r.errors, "rolectl: ended the session of a in roles, ") != 1 {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	leads(t, contend(t, p.member("b"), election.RoleConfig{Role: "scheduler"}))
}

// TestGuardListens, says what it cannot see, and ends when it is told to.
func TestGuardListens(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	path := t.TempDir() + "/guard"
	g := p.start("guard", "--listen", path, "--socket-mode", "0660")
	g.says(&g.errs, "ROLES_GUARD_SOCKET="+path)
	natstest.Eventually(t, "it listens", patience, func() (bool, string) {
		is, err := os.Stat(path)
		return err == nil && is.Mode().Perm() == 0o660, fmt.Sprint(is, err)
	})
	app := &place{t: t, server: p.server, env: append(p.env, "ROLES_GUARD_SOCKET="+path)}
	if r := app.run("exec", "scheduler", "-q", "--", "true"); r.code != 0 || r.errors != "" {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	g.says(&g.errs, "the TTL decides") // it is in the cgroup of the guard
	if r := p.run("guard", "--listen", path); !strings.Contains(r.errors, "another guard listens") {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	g.signal(syscall.SIGTERM)
	if r := g.wait(); r.code != 0 {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is left")
	}
	if r := p.run("guard", "--listen", path, "--socket-mode", "all"); r.code != cli.ExitUsage {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
}
