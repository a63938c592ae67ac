package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestPause: one process is kept from leading, steps down if it leads, and contends again when it
// is resumed.
func TestPause(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler")
	if r := p.run("pause", "scheduler", "c", "--yes"); r.code != cli.ExitFailed ||
		!strings.Contains(r.errors, "c does not take part in scheduler; members that do: a, b") {
		t.Errorf("a stranger: exit %d, %s", r.code, r.errors)
	}
	if r := p.run("pause", "scheduler", "a"); r.code == 0 || !a.IsLeader() {
		t.Errorf("without a terminal and --yes: exit %d, %s", r.code, r.errors)
	}
	for args, says := range map[string]string{
		"resume scheduler b":     "b was not paused for scheduler",
		"roles resume scheduler": "scheduler was not paused for all: no role is",
	} {
		if r := p.ok(strings.Fields(args)...); !strings.Contains(r.errors, says) {
			t.Errorf("%s of what is not paused: %s", args, r.errors)
		}
	}
	if r := p.ok("pause", "scheduler", "a", "--yes"); !strings.Contains(r.errors, "a does not lead scheduler until") {
		t.Errorf("%s", r.errors)
	}
	leads(t, b)
	state := func(e *election.Election, what string, is func(election.Status) bool) {
		t.Helper()
		natstest.Eventually(t, what, patience, func() (bool, string) {
			st := e.Status()
			return is(st), fmt.Sprintf("%+v", st)
		})
	}
	state(a, "a is paused", func(s election.Status) bool { return s.Reason == "paused" && !s.IsLeader })
	for args, says := range map[string]string{
		"inspect scheduler": "a (priority 3, paused)", "roles -o wide": "a (paused)", "members": "scheduler (paused)",
		"members -o json": `"why": "paused"`, "roles -o json": `"why": "paused"`,
	} {
		if out := p.ok(strings.Fields(args)...).out; !strings.Contains(out, says) {
			t.Errorf("%s does not show who is paused:\n%s", args, out)
		}
	}
	if d, _ := p.diagnosis(); !d.has("steering", "ok", "a for scheduler; rolectl resume") {
		t.Errorf("doctor: %+v", d)
	}
	d := document[map[string]any](t, p.ok("resume", "scheduler", "a", "-o", "json").out)
	if d["kind"] != "eligibility" || d["action"] != "resume" || d["instance"] != "a" || d["role"] != "scheduler" {
		t.Errorf("resume: %v", d)
	}
	state(b, "a is in line again", func(s election.Status) bool { return s.Successor == "a" })
}

// TestPauseForAllAgain: a role that was resumed may be paused again at once. Each command that
// shows the role has the same word for it.
func TestPauseForAllAgain(t *testing.T) {
	t.Parallel()
	p := at(t)
	inZone := func(c *election.SessionConfig) { c.Zone = "dc" }
	leads(t, contend(t, p.member("a", inZone), election.RoleConfig{Role: "r"}))
	if r := p.ok("zone", "undrain", "dc"); !strings.Contains(r.errors, "zone dc was not drained: no zone is") {
		t.Errorf("undrain of what is not drained: %s", r.errors)
	}
	for range 2 {
		p.ok("roles", "pause", "r", "--yes")
		natstest.Eventually(t, "it is vacant", patience, func() (bool, string) {
			out := p.run("roles", "r").out
			return strings.Contains(out, " paused "), out
		})
		out := p.run("inspect", "r").out
		if !strings.Contains(strings.Join(strings.Fields(out), " "), "state paused leader") {
			t.Errorf("inspect:\n%s", out)
		}
		if r := p.ok("resume", "r", "a"); !strings.Contains(r.errors, "a contends for r when that is resumed for all") {
			t.Errorf("resume of one process: %s", r.errors)
		}
		if r := p.ok("roles", "resume", "r"); !strings.Contains(r.errors, "r may be led again") {
			t.Errorf("resume: %s", r.errors)
		}
	}
}
