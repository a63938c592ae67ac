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
