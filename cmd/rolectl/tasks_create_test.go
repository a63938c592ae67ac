package main

import (
	"strings"
	"testing"
)

type namespaceDoc struct {
	Namespace, Stream, Storage string
	Replicas                   int
}

// TestTasksCreate: the command that an error names makes what was missing, once; it does no harm again.
func TestTasksCreate(t *testing.T) {
	t.Parallel()
	p := at(t)
	r := p.run("tasks", "ls", "-n", "jobs")
	_, command, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(r.errors), `"`), `"rolectl `)
	if r.code != exitFailed || !ok || strings.Count(r.errors, "\n") != 1 {
		t.Fatalf("without a namespace: exit %d, %q", r.code, r.errors)
	}
	p.ok(strings.Fields(command)...)
	p.ok("tasks", "submit", "-n", "jobs", "double", "1", "--id", "first")
	if d := document[namespaceDoc](t, p.ok("tasks", "create", "-n", "jobs", "-o", "json").out); d != (namespaceDoc{"jobs", "TASKS_jobs", "file", 1}) {
		t.Errorf("%+v", d)
	}
	p.ok("tasks", "get", "-n", "jobs", "first")
	if out := p.ok("tasks", "create", "quick", "--storage", "memory").out; !strings.Contains(out, "memory storage") {
		t.Errorf("in memory: %s", out)
	}
	if out := p.ok("tasks", "create", "quick", "-o", "name").out; out != "quick\n" {
		t.Errorf("name: %q", out)
	}
}

// TestTasksCreateDryRun: what it prints makes the stream that it would have made, and itself it makes nothing.
func TestTasksCreateDryRun(t *testing.T) {
	t.Parallel()
	p := at(t)
	out := p.ok("tasks", "create", "jobs", "--storage", "memory", "--dry-run").out
	if r := p.run("tasks", "ls", "-n", "jobs"); r.code != exitFailed {
		t.Fatalf("it has made the stream: %d, %s", r.code, r.errors)
	}
	_, command, _ := strings.Cut(out, "\n")
	parts := strings.Split(strings.TrimSpace(command), "'")
	if len(parts) != 5 || parts[0] != "nats request " {
		t.Fatalf("not a nats command with a subject and a body: %s", out)
	}
	m, err := p.connect().Request(parts[1], []byte(parts[3]), patience)
	if err != nil || strings.Contains(string(m.Data), `"error"`) {
		t.Fatalf("%v, %s", err, m.Data)
	}
	if out := p.ok("tasks", "create", "jobs").out; !strings.Contains(out, "memory storage") { // it is checked, and is another one otherwise
		t.Errorf("the stream is another one: %s", out)
	}
}
