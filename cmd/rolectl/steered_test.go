package main

import (
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestSteeredIsShown: each command that shows roles or members says which zone is drained, and
// which role is paused for all, by whom and why. The doctor does not ask for another process that
// would lead a paused role, and warns of one that was forgotten.
func TestSteeredIsShown(t *testing.T) {
	thorough.Only(t, "it waits for leases")
	t.Parallel()
	p := at(t)
	a, b := p.pair("scheduler", func(c *election.SessionConfig) { c.Zone = "dc-" + c.InstanceID })
	p.ok("zone", "drain", "dc-a", "--reason", "power works", "--wait", "--yes")
	leads(t, b)
	if out := p.ok("members").out; !strings.Contains(out, "dc-a (drained)") || strings.Contains(out, "dc-b (drained)") {
		t.Errorf("members:\n%s", out)
	}
	if out := p.ok("members", "-o", "json").out; !strings.Contains(out, `"reason": "power works"`) {
		t.Errorf("members:\n%s", out)
	}
	if out := p.ok("inspect", "scheduler").out; !strings.Contains(out, "zone dc-a, drained") {
		t.Errorf("inspect:\n%s", out)
	}
	if d, _ := p.diagnosis(); !d.has("steering", "ok", "zone dc-a is drained by") ||
		!d.has("steering", "ok", "(power works)") {
		t.Errorf("doctor: %+v", d)
	}
	p.ok("roles", "pause", "scheduler", "--reason", "migration", "--yes")
	natstest.Eventually(t, "nobody leads", patience, func() (bool, string) {
		return strings.Contains(p.run("roles").out, " paused "), p.run("roles").out
	})
	if out := p.run("roles", "-o", "wide").out; !strings.Contains(out, "(migration)") {
		t.Errorf("roles:\n%s", out)
	}
	if out := p.run("inspect", "scheduler").out; !strings.Contains(out, "paused for all by") {
		t.Errorf("inspect:\n%s", out)
	}
	if out := p.run("inspect", "scheduler", "-o", "json").out; document[map[string]any](t, out)["paused"] == nil {
		t.Errorf("inspect:\n%s", out)
	}
	if d, _ := p.diagnosis(); !d.has("steering", "ok", "role scheduler is paused for all by") ||
		d.has("roles", "warning", "scheduler") || d.has("roles", "critical", "scheduler") {
		t.Errorf("doctor: %+v", d)
	}
	if a.IsLeader() || b.IsLeader() {
		t.Error("a paused role is led")
	}
	long := record.Steer{V: record.Version, Paused: true, By: "ops", AtMs: time.Now().Add(-72 * time.Hour).UnixMilli()}
	key := "$KV.roles." + record.SteerKey("role.scheduler")
	if _, err := p.connect().Request(key, record.Encode(long), patience); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the doctor warns", patience, func() (bool, string) {
		d, _ := p.diagnosis()
		return d.has("steering", "warning", "role scheduler is paused for all by ops"), ""
	})
}
