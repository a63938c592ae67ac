package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

func TestExecPassesOn(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	r := p.ok("exec", "scheduler", "--instance", "a", "-q", "--", "sh", "-c", `echo "$ROLE $EPOCH $INSTANCE $TOKEN"; cat; echo noise >&2`)
	fields := strings.Fields(r.out)
	if len(fields) != 4 || fields[0] != "scheduler" || fields[2] != "a" || r.errors != "noise\n" {
		t.Fatalf("%q, %q", r.out, r.errors)
	}
	token, err := fencing.Parse(fields[3])
	if err != nil || token.Role != "scheduler" || token.Holder != "a" || fields[1] == "0" ||
		!strings.Contains(fields[3], "/"+fields[1]+"/") {
		t.Errorf("token %v (%v) and epoch %s", token, err, fields[1])
	}
	for script, code := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143} {
		if r := p.run("exec", "scheduler", "-q", "--", "sh", "-c", script); r.code != code || r.errors != "" {
			t.Errorf("%s: exit %d, want %d; %s", script, r.code, code, r.errors)
		}
	}
	if r := p.run("exec", "scheduler", "--", "no-such-command"); r.code != 127 || strings.Count(r.errors, "\n") != 1 {
		t.Errorf("a command that is not there: exit %d, %q", r.code, r.errors)
	}
	if out := p.ok("roles", "-o", "json").out; document[rolesDoc](t, out).Roles[0].Leader != "" {
		t.Errorf("the role was not given up:\n%s", out)
	}
}

// TestExecLeavesNobodyBehind: what the command has started in the background ends with it, before
// the role is given up.
func TestExecLeavesNobodyBehind(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	beats := newBeats(t)
	p.ok("exec", "scheduler", "--stop-timeout", "100ms", "--", "sh", "-c", beats.stubborn()+" & "+beats.wait()+"; exit 0")
	if beats.lives() {
		t.Error("what the command has started lives on")
	}
}

func TestExecWait(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	for _, wait := range []string{"0s", "200ms"} {
		r := p.run("exec", "scheduler", "--wait", wait, "--", "echo", "ran")
		if r.code != cli.ExitNoLeader || r.out != "" || !strings.Contains(r.errors, "a leads scheduler") {
			t.Errorf("--wait %s: exit %d, %s%s", wait, r.code, r.out, r.errors)
		}
	}
	if r := p.run("exec", "other", "--wait", "0s", "-q", "--", "echo", "ran"); r.code != 0 || r.out != "ran\n" {
		t.Errorf("of a free role: exit %d, %s%s", r.code, r.out, r.errors)
	}
	waiting := p.start("exec", "scheduler", "--", "echo", "ran")
	waiting.says(&waiting.errs, "contends for scheduler")
	waiting.signal(syscall.SIGTERM)
	if r := waiting.wait(); r.code != 143 || r.out != "" {
		t.Errorf("told to stop while it waits: exit %d, %s", r.code, r.errors)
	}
}

// TestExecStops: told to stop, it lets the command end in its own way, gives the role up and passes
// the exit code on.
func TestExecStops(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	for _, s := range []syscall.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU,
	} {
		if signal.Ignored(s) { // as under nohup, and so by all that the test starts
			continue
		}
		e := p.start("exec", "scheduler", "--", "sh", "-c", `trap 'echo "$INSTANCE cleans up"; exit 9' TERM; echo on; sleep 1000 & while :; do wait; done`)
		e.says(&e.out, "on\n")
		e.signal(s)
		if r := e.wait(); r.code != 9 || !strings.Contains(r.out, "cleans up") ||
			strings.Count(r.errors, "rolectl: stopping: TERM sent, KILL in 10s\n") != 1 {
			t.Errorf("%v: exit %d, %s%s", s, r.code, r.out, r.errors)
		}
	}
	beats := newBeats(t)
	e := p.start("exec", "scheduler", "--stop-timeout", "200ms", "--", "sh", "-c", "trap '' TERM; "+beats.beating())
	beats.begun()
	e.signal(syscall.SIGTERM)
	if r := e.wait(); r.code != 137 {
		t.Errorf("a command that ignores TERM: exit %d, %s", r.code, r.errors)
	}
	if beats.lives() {
		t.Error("it lives on")
	}
}

// TestExecOnTerminal: after Ctrl-C on a terminal the command is told to end, once and by TERM; its
// exit code is passed on, and the role is free at once.
func TestExecOnTerminal(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	script := `trap 'echo told-INT' INT; trap 'echo told-HUP' HUP; trap 'echo told-TERM; told=1' TERM; echo on
		while [ -z "$told" ]; do sleep 0.05; done; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; exit 9`
	for _, keys := range []string{"\x03", "\x03\x03"} { // also pressed twice
		e, tty := p.onTerminal("exec", "scheduler", "--ttl", "1m", "--", "sh", "-c", script)
		e.says(&e.out, "on\r\n")
		typed(t, tty, keys)
		r := e.wait()
		if r.code != 9 || strings.Count(r.out, "told-") != 1 || !strings.Contains(r.out, "told-TERM") ||
			strings.Count(r.out, "rolectl: stopping: TERM sent, KILL in 10s") != 1 {
			t.Errorf("after %q: exit %d, %q", keys, r.code, r.out)
		}
		d := document[rolesDoc](t, p.ok("roles", "scheduler", "-o", "json").out).Roles[0]
		if d.Leader != "" || !d.Vacant { // its lease would last for a minute
			t.Errorf("the role was not given up: %+v", d)
		}
	}
}

// TestExecIsSteered: a step-down drains the command; exec exits with 5, or waits for the role
// again.
func TestExecIsSteered(t *testing.T) {
	thorough.Only(t, "it waits for hand-overs")
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	script := `trap 'echo drained $EPOCH; exit 0' TERM; echo began $EPOCH; sleep 1000 & while :; do wait; done`
	e := p.start("exec", "scheduler", "--ttl", "6s", "--instance", "a", "--", "sh", "-c", script)
	e.says(&e.out, "began")
	again := p.start("exec", "scheduler", "--ttl", "6s", "--instance", "b", "--on-lost", "wait", "--", "sh", "-c", script)
	p.next("b")
	p.ok("transfer", "scheduler", "b", "--yes")
	if r := e.wait(); r.code != cli.ExitLost || !strings.Contains(r.out, "drained") ||
		!strings.Contains(r.errors, "transferred") {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.errors)
	}
	again.says(&again.out, "began")
	if r := p.run("step-down", "scheduler", "--yes", "--wait", "30s"); r.code != 0 { // b leads again after its cool-down
		t.Errorf("exit %d, %s%s", r.code, r.out, r.errors)
	}
	again.says(&again.out, "drained")
	_, rest, _ := strings.Cut(again.out.String(), "drained")
	if !strings.Contains(rest, "began") {
		again.says(&again.errs, "leading scheduler")
	}
	again.signal(syscall.SIGTERM)
	again.wait()
}

func TestExecRestart(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	file := t.TempDir() + "/runs"
	e := p.start("exec", "scheduler", "--restart", "--", "sh", "-c", `echo $EPOCH >> "`+file+`"; exit 3`)
	e.says(&e.errs, "restart in 2s")
	e.signal(syscall.SIGINT)
	if r := e.wait(); r.code == cli.ExitLost {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	runs, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	epochs := strings.Fields(string(runs))
	if len(epochs) < 2 || epochs[0] != epochs[1] {
		t.Errorf("runs at epochs %v, want several within one term", epochs)
	}
}

func TestExecUsage(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	for args, says := range map[string]string{
		"exec":                                 "give one role before --",
		"exec scheduler":                       "put -- before the command",
		"exec scheduler true":                  "put -- before the command",
		"exec -- true":                         "give one role before --",
		"exec a b -- true":                     "give one role before --",
		"exec scheduler --":                    "give a command after --",
		"exec a..b -- true":                    "a..b",
		"exec scheduler --ttl 1ms -- true":     "300ms",
		"exec scheduler --ttl 10m -- true":     "--ttl 10m0s is above 2m0s, the maximum of bucket roles",
		"exec scheduler --on-lost x -- true":   "use exit or wait",
		"exec scheduler --takeover -- true":    "Priority above 0",
		"exec scheduler --instance a* -- true": "InstanceID",
	} {
		r := p.here(strings.Fields(args)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.errors, says) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", args, r.code, r.errors, says)
		}
	}
	p.member("a", func(c *election.SessionConfig) { c.IdleFactor, c.TTL = 1, time.Second })
	if r := p.run("exec", "scheduler", "--instance", "a", "--", "true"); r.code != cli.ExitFailed ||
		!strings.Contains(r.errors, "in use by live session") {
		t.Errorf("an instance id that is taken: exit %d, %q", r.code, r.errors)
	}
}
