package main

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

type groupDoc struct {
	Group assign.GroupStatus `json:"group"`
}

// TestTasksGroup: how its members have ended, and where its completion is.
func TestTasksGroup(t *testing.T) {
	t.Parallel()
	w := working(t)
	c, err := assign.NewClient(w.connect(), assign.ClientConfig{Namespace: "jobs"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	members, completion := assign.NewKind[int, int]("fail"), assign.NewKind[assign.GroupRef, string]("gate")
	if _, err := assign.SubmitGroup(t.Context(), c, "nightly", members, []int{1, 2}, completion); err != nil {
		t.Fatal(err)
	}
	w.in("group/nightly", assign.StateRunning)
	d := document[groupDoc](t, w.ok("tasks", "group", "nightly", "-o", "json").out)
	if g := d.Group; g.Name != "nightly" || g.Size != 2 || g.Dead != 2 || len(g.Failed) != 2 || g.Recorded.IsZero() {
		t.Errorf("%+v", g)
	}
	out := w.ok("tasks", "group", "nightly").out
	for _, part := range []string{"GROUP", "nightly", "DEAD", "counted: ", "failed: group/nightly/0, group/nightly/1"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing in:\n%s", part, out)
		}
	}
	close(w.open)
	natstest.Eventually(t, "it is complete", patience, func() (bool, string) {
		out := w.ok("tasks", "group", "nightly").out
		return strings.Contains(out, "succeeded"), out
	})
	if r := w.run("tasks", "group", "nobody"); r.code != cli.ExitFailed || !strings.Contains(r.errors, "not found") {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
	if r := w.run("tasks", "group", "a/b"); r.code != cli.ExitUsage {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
}
