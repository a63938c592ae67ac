package main

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWaitingIsShown: inspect names the processes that wait to lead another role, and the doctor
// says that nobody leads a role for that, and does not ask for another process.
func TestWaitingIsShown(t *testing.T) {
	t.Parallel()
	p := at(t)
	a, b := p.pair("local")
	global := contend(t, p.member("c"), election.RoleConfig{Role: "global", While: b})
	natstest.Eventually(t, "inspect shows it", patience, func() (bool, string) {
		out := p.run("inspect", "global").out
		return strings.Contains(out, "c (to lead local@roles)") &&
			strings.Contains(out, "nobody: each process that takes part waits to lead another role: local@roles"), out
	})
	role := document[map[string]any](t, p.run("inspect", "global", "-o", "json").out)
	if waiting, _ := role["waiting"].([]any); len(waiting) != 1 {
		t.Errorf("inspect: %v", role)
	}
	if d, _ := p.diagnosis(); !d.has("roles", "warning", "nobody leads global: each process") ||
		d.has("roles", "critical", "global") {
		t.Errorf("doctor: %+v", d)
	}
	if err := a.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	leads(t, global)
	if out := p.ok("inspect", "global").out; strings.Contains(out, "to lead local") {
		t.Errorf("inspect:\n%s", out)
	}
}
