package main

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestZoneAndPauseForAll: a drained zone has handed over when --wait returns, and its process leads
// again when there is nobody else. A role that is paused for all is led by nobody until it is
// resumed.
func TestZoneAndPauseForAll(t *testing.T) {
	thorough.Only(t, "it waits for hand-overs")
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler", func(c *election.SessionConfig) { c.Zone = "dc-" + c.InstanceID })
	if r := p.run("zone", "drain", "dc-a"); r.code == 0 || !a.IsLeader() {
		t.Errorf("without a terminal and --yes: exit %d, %s", r.code, r.errors)
	}
	if r := p.run("zone", "drain", "dc a", "--yes"); r.code == 0 {
		t.Errorf("a zone that cannot be: %s", r.errors)
	}
	for args, says := range map[string]string{
		"zone drain DC-A --wait --yes": "zones with processes: dc-a, dc-b; give --force",
		"zone undrain nope":            "nothing is known of",
		"roles pause nope --yes":       "roles there: scheduler; give --force",
		"roles resume nope":            "nothing is known of",
	} {
		if r := p.run(strings.Fields(args)...); r.code != cli.ExitUsage || !strings.Contains(r.errors, says) {
			t.Errorf("%s, which nobody knows: exit %d, %s", args, r.code, r.errors)
		}
	}
	for range 2 { // what was taken back may be told again at once
		p.ok("zone", "drain", "tomorrow", "--yes", "--force")
		p.ok("zone", "undrain", "tomorrow")
	}
	p.ok("zone", "drain", "dc-a", "--reason", "power works", "--wait", "--yes")
	if a.IsLeader() {
		t.Error("a leads though its zone is drained")
	}
	leads(t, b)
	p.ok("step-down", "scheduler", "--yes")
	leads(t, a) // b cools down, and there is nobody else
	p.ok("zone", "undrain", "dc-a")
	p.ok("roles", "pause", "scheduler", "--yes")
	natstest.Eventually(t, "nobody leads", patience, func() (bool, string) {
		r := p.run("roles", "scheduler", "-o", "json")
		return strings.Contains(r.out, `"leader": ""`) || !a.IsLeader() && !b.IsLeader(), r.out
	})
	d := document[map[string]any](t, p.ok("roles", "resume", "scheduler", "-o", "json").out)
	if d["kind"] != "steering" || d["action"] != "resume" || d["name"] != "scheduler" {
		t.Errorf("resume: %v", d)
	}
	natstest.Eventually(t, "somebody leads again", patience, func() (bool, string) {
		return a.IsLeader() || b.IsLeader(), ""
	})
	if r := p.run("zone", "drain", "dc-a", "--for", "1ms", "--yes"); r.code == 0 {
		t.Errorf("for a moment: %s", r.errors)
	}
}
