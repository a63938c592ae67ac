package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

type faultTestDoc struct {
	Kind  string
	Error struct {
		Code, Message, Fix string
		Exit               int
	}
}

type noteDoc struct{ Kind, Message string }

// TestFaultsJSON: with -o json an error is a document too, the last line on standard error, with
// the same exit code.
func TestFaultsJSON(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	p.ok("tasks", "create", "jobs")
	for args, want := range map[string]struct {
		code string
		exit int
	}{
		"roles -s nats://127.0.0.1:1 -o json":                             {"connection", cli.ExitConnection},
		"doctor --nope -o json":                                           {"usage", doctorUnknown},
		"doctor -b a.b -o json":                                           {"usage", doctorUnknown},
		"-o json roles -b nowhere":                                        {"bucket_not_found", cli.ExitFailed},
		"roles -ojson nobody":                                             {"usage", cli.ExitUsage},
		"roles --output=json --nope":                                      {"usage", cli.ExitUsage},
		"--nope --output json roles":                                      {"usage", cli.ExitUsage},
		"dance -o json":                                                   {"usage", cli.ExitUsage},
		"inspect -o json":                                                 {"usage", cli.ExitUsage},
		"bucket create x --replicas 3 -o json":                            {"failed", cli.ExitFailed},
		"bucket check nowhere -o json":                                    {"bucket_not_found", cli.ExitFailed},
		"step-down x --yes -o json":                                       {"usage", cli.ExitUsage},
		"tasks ls -n nowhere -o json":                                     {"namespace_not_found", cli.ExitFailed},
		"tasks get -n jobs nothing -o json":                               {"task_not_found", cli.ExitFailed},
		"tasks overview -n jobs -o json":                                  {"no_scheduler", cli.ExitNoLeader},
		"tasks ls -n jobs -o json":                                        {"no_scheduler", cli.ExitNoLeader},
		"exec x --wait never -o json -- true":                             {"usage", cli.ExitUsage},
		"exec x -o json -- no-such-command":                               {"failed", 127},
		"dev --port 0 --store-dir /proc/none -o json":                     {"failed", cli.ExitFailed},
		"tasks submit -n jobs echo 1 --wait --wait-timeout 100ms -o json": {"failed", cli.ExitFailed},
	} {
		r := p.run(strings.Fields(args)...)
		all := slices.Collect(strings.Lines(r.errors))
		if len(all) == 0 {
			t.Errorf("%s: exit %d, and nothing is said", args, r.code)
			continue
		}
		last := len(all) - 1
		for _, line := range all[:last] {
			if d := document[noteDoc](t, line); d.Kind != "note" || d.Message == "" {
				t.Errorf("%s: %q", args, line)
			}
		}
		d := document[faultTestDoc](t, all[last])
		if d.Kind != "error" || d.Error.Code != want.code || d.Error.Exit != want.exit || r.code != want.exit ||
			d.Error.Message == "" ||
			d.Error.Fix == "" && want.code != "failed" {
			t.Errorf("%s: exit %d, %q, want %+v", args, r.code, r.errors, want)
		}
		if strings.HasPrefix(d.Error.Message, "rolectl:") {
			t.Errorf("%s: %q", args, d.Error.Message)
		}
	}
	// Beyond -- it is the command's.
	if r := p.run("exec", "x", "--wait", "never", "--", "echo", "-o", "json"); r.code != cli.ExitUsage ||
		strings.Contains(r.errors, "{") {
		t.Errorf("exit %d, %q", r.code, r.errors)
	}
	r := p.run("exec", "x", "-o", "json", "--", "sh", "-c", "exit 7")
	notes := eachLine[noteDoc](t, r.errors)
	if r.code != 7 || len(notes) == 0 ||
		!slices.ContainsFunc(notes, func(n noteDoc) bool { return strings.HasPrefix(n.Message, "leading x at epoch") }) {
		t.Errorf("exit %d, %q", r.code, r.errors)
	}
}

type doneDoc struct{ Namespace, Action, Name, Message string }

// TestDone: what commands that steer tasks have done is data where data is asked for.
func TestDone(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("tasks", "create", "jobs")
	p.ok("tasks", "submit", "-n", "jobs", "echo", "1", "--id", "first")
	for _, test := range []struct {
		action string
		args   []string
		name   string
	}{
		{"pause", []string{"echo"}, "echo"},
		{"resume", []string{"echo"}, "echo"},
		{"drain", []string{"vm-1"}, "vm-1"},
		{"undrain", []string{"vm-1"}, "vm-1"},
		{"cron set", []string{"nightly", "echo", "@daily", "1"}, "nightly"},
		{"cron rm", []string{"nightly"}, "nightly"},
	} {
		args := append(append([]string{"tasks"}, strings.Fields(test.action)...), test.args...)
		r := p.ok(append(args, "-n", "jobs", "-o", "json")...)
		if d := document[doneDoc](t, r.out); d.Namespace != "jobs" || d.Action != test.action || d.Name != test.name ||
			d.Message == "" || r.errors != "" {
			t.Errorf("%v: %+v, %q", args, d, r.errors)
		}
		if test.action == "cron rm" {
			continue // it is gone
		}
		if r := p.ok(append(args, "-n", "jobs", "-o", "name")...); r.out != test.name+"\n" {
			t.Errorf("%v: %q", args, r.out)
		}
		if r := p.ok(append(args, "-n", "jobs")...); r.out != "" || !strings.Contains(r.errors, test.name) {
			t.Errorf("%v: %q, %q", args, r.out, r.errors)
		}
	}
}
