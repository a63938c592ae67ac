package main

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

type namespaceDoc struct {
	Namespace, Stream, Storage string
	Replicas                   int
	Objects                    struct {
		Name, Storage string
		Replicas      int
		Retention     float64 `json:"retention_seconds"`
	}
}

// TestTasksCreate: the command that an error names makes what was missing, once; it does no harm
// again.
func TestTasksCreate(t *testing.T) {
	t.Parallel()
	p := at(t)
	r := p.run("tasks", "ls", "-n", "jobs")
	_, command, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(r.errors), `"`), `"rolectl `)
	if r.code != cli.ExitFailed || !ok || strings.Count(r.errors, "\n") != 1 {
		t.Fatalf("without a namespace: exit %d, %q", r.code, r.errors)
	}
	p.ok(strings.Fields(command)...)
	p.ok("tasks", "submit", "-n", "jobs", "double", "1", "--id", "first")
	if d := document[namespaceDoc](t, p.ok("tasks", "create", "-n", "jobs", "-o", "json").out); d.Namespace != "jobs" ||
		d.Stream != "TASKS_jobs" || d.Storage != "file" || d.Replicas != 1 ||
		d.Objects.Name != "OBJ_TASKS_jobs" || d.Objects.Storage != "file" || d.Objects.Retention != 24*3600 {
		t.Errorf("%+v", d)
	}
	p.ok("tasks", "get", "-n", "jobs", "first")
	if r := p.ok("tasks", "create", "jobs", "--replicas", "3", "--large-retention",
		"2h"); strings.Count(r.errors, "_jobs exists with replicas 1") != 2 ||
		!strings.Contains(r.errors, "nats stream edit OBJ_TASKS_jobs --replicas 3") ||
		!strings.Contains(r.errors, "keeps outputs for 24h0m0s") {
		t.Errorf("what was asked for and is not so: %q", r.errors)
	}
	if out := p.ok("tasks", "create", "quick", "--storage", "memory").out; !strings.Contains(out, "memory storage") {
		t.Errorf("in memory: %s", out)
	}
	if out := p.ok("tasks", "create", "quick", "-o", "name").out; out != "quick\n" {
		t.Errorf("name: %q", out)
	}
}

// TestTasksCreateDryRun: what it prints makes the stream that it would have made, and itself it
// makes nothing.
func TestTasksCreateDryRun(t *testing.T) {
	t.Parallel()
	p := at(t)
	out := p.ok("tasks", "create", "jobs", "--storage", "memory", "--large-retention", "2h", "--dry-run").out
	if r := p.run("tasks", "ls", "-n", "jobs"); r.code != cli.ExitFailed {
		t.Fatalf("it has made the stream: %d, %s", r.code, r.errors)
	}
	commands := strings.Split(strings.TrimSpace(out), "\n")[1:]
	if len(commands) != 2 {
		t.Fatalf("not two commands, for the stream and the object store: %s", out)
	}
	for _, command := range commands {
		parts := strings.Split(command, "'")
		if len(parts) != 5 || parts[0] != "nats request " {
			t.Fatalf("not a nats command with a subject and a body: %s", out)
		}
		m, err := p.connect().Request(parts[1], []byte(parts[3]), patience)
		if err != nil || strings.Contains(string(m.Data), `"error"`) {
			t.Fatalf("%v, %s", err, m.Data)
		}
	}
	// it is checked, and is another one otherwise
	d := document[namespaceDoc](t, p.ok("tasks", "create", "jobs", "-o", "json").out)
	if d.Storage != "memory" || d.Objects.Storage != "memory" || d.Objects.Retention != 2*3600 {
		t.Errorf("what there is is another one: %+v", d)
	}
}

type creationDoc struct {
	Name     string
	Requests []struct {
		Subject, Command string
		Body             map[string]any
	}
}

// TestDryRunFormats: a dry run is data as much as what it does not do.
func TestDryRunFormats(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)} // it goes to no server
	for _, test := range []struct {
		args    string
		name    string
		streams []string
	}{
		{"bucket create mine --replicas 3 --dry-run", "mine", []string{"KV_mine"}},
		{"tasks create jobs --replicas 3 --dry-run", "jobs", []string{"TASKS_jobs", "OBJ_TASKS_jobs"}},
	} {
		args := strings.Fields(test.args)
		if out := p.ok(append(args, "-o", "name")...).out; out != test.name+"\n" {
			t.Errorf("%s: the name is %q", test.args, out)
		}
		d := document[creationDoc](t, p.ok(append(args, "-o", "json")...).out)
		if d.Name != test.name || len(d.Requests) != len(test.streams) {
			t.Fatalf("%s: %+v", test.args, d)
		}
		for i, r := range d.Requests {
			if stream := test.streams[i]; r.Subject != "$JS.API.STREAM.CREATE."+stream || r.Body["name"] != stream ||
				r.Body["num_replicas"] != 3.0 || !strings.Contains(r.Command, stream) {
				t.Errorf("%s: %+v", test.args, r)
			}
		}
	}
}
