package main

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

type limitsDoc struct {
	Limits assign.KindLimits `json:"limits"`
}

// TestTasksLimits: what a program declares is shown and can be overridden, limit by limit, until it
// is restored; and tasks that are submitted by hand are treated as it declares.
func TestTasksLimits(t *testing.T) {
	t.Parallel()
	w := working(t)
	if r := w.ok("tasks", "limits", "double"); !strings.Contains(r.out, "as submitted") ||
		!strings.Contains(r.errors, "nothing is declared") {
		t.Errorf("%q, %q", r.out, r.errors)
	}
	if r := w.run("tasks", "limits", "nope"); r.code != cli.ExitFailed ||
		!strings.Contains(r.errors, `unknown kind "nope": the scheduler knows `) || !strings.Contains(r.errors, "double") {
		t.Errorf("exit %d, %q", r.code, r.errors)
	}
	c, err := assign.NewClient(w.connect(), assign.ClientConfig{Namespace: "jobs"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	kind := assign.NewKind[int, int]("double", assign.Concurrency(7), assign.Priority(5), assign.LimitsVersion(3))
	if err := assign.Declare(t.Context(), c, kind); err != nil {
		t.Fatal(err)
	}
	d := document[limitsDoc](t, w.ok("tasks", "limits", "double", "-o", "json").out).Limits
	if d.Declared == nil || d.Declared.Version != 3 || *d.Concurrency != 7 || *d.Rate != 0 || *d.KeyLimit != 1 {
		t.Errorf("%+v", d)
	}
	r := w.ok("tasks", "limits", "double", "--concurrency", "1", "--for", "1h", "--reason", "a slow\x1b[2J database")
	if !strings.Contains(r.out, "concurrency") || !strings.Contains(r.errors, "overridden until 2") ||
		!strings.Contains(r.errors, "slow") || strings.Contains(r.errors, "\x1b") {
		t.Errorf("%q, %q", r.out, r.errors)
	}
	d = document[limitsDoc](t, w.ok("tasks", "limits", "double", "-o", "json").out).Limits
	if d.Override == nil || *d.Override.Concurrency != 1 || d.Override.Rate != nil || d.Override.Until.IsZero() ||
		*d.Concurrency != 1 || d.Declared.Concurrency != 7 {
		t.Errorf("%+v", d)
	}
	w.ok("tasks", "limits", "double", "--restore")
	d = document[limitsDoc](t, w.ok("tasks", "limits", "double", "-o", "json").out).Limits
	if d.Override != nil || *d.Concurrency != 7 {
		t.Errorf("%+v", d)
	}
	r = w.ok("tasks", "limits", "double", "--share", "a=b=3", "--share", "x\x1b[2J=2", "--share", "=1")
	if !strings.Contains(r.out, "share of a=b") || strings.Contains(r.out, "\x1b") {
		t.Errorf("%q", r.out)
	}
	d = document[limitsDoc](t, w.ok("tasks", "limits", "double", "-o", "json").out).Limits
	if d.Override == nil || len(d.Override.Shares) != 3 || d.Shares["a=b"] != 3 || d.Shares["x\x1b[2J"] != 2 ||
		*d.Concurrency != 7 {
		t.Errorf("%+v", d)
	}
	w.ok("tasks", "limits", "double", "--restore")
	w.ok("tasks", "submit", "double", "4", "--id", "mine")
	if s := w.in("mine", assign.StateSucceeded); s.Priority != 0 { // of a task that has ended it is not kept
		t.Errorf("%+v", s)
	}
	w.ok("tasks", "pause", "double")
	w.ok("tasks", "submit", "double", "5", "--id", "kept")
	if s := w.in("kept", assign.StatePending); s.Priority != 5 {
		t.Errorf("it is not treated as declared: %+v", s)
	}
	for _, args := range [][]string{
		{"--restore", "--rate", "1"},
		{"--for", "1h"},
		{"--key-limit", "0"},
		{"--rate", "-1"},
		{"--reason", "none"},
		{"--share", "a"},
		{"--share", "a=b"},
		{"--share", "a=0"},
		{"--share", "a=1001"},
		{"--share", "a=2", "--restore"},
	} {
		if r := w.run(append([]string{"tasks", "limits", "double"}, args...)...); r.code != cli.ExitUsage {
			t.Errorf("%v: exit %d, %q", args, r.code, r.errors)
		}
	}
}
