package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// completes waits until the shell is offered just these names, for a command line whose words are
// separated by bars.
func (p *place) completes(line string, want ...string) {
	p.t.Helper()
	natstest.Eventually(p.t, line, patience, func() (bool, string) {
		r := p.ok(append([]string{"__complete"}, strings.Split(line, "|")...)...)
		var got []string
		for line := range strings.Lines(r.out) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), "\t") // without the help
			got = append(got, name)
		}
		got = got[:len(got)-1] // the directive
		slices.Sort(got)
		slices.Sort(want)
		return slices.Equal(got, want), r.out + r.errors
	})
}

// TestCompletion: names come from the bucket; without a server there are none, and nothing is said.
func TestCompletion(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	contend(t, p.member("c"), election.RoleConfig{Role: "metrics"})
	p.ok("bucket", "create", "other")
	p.ok("tasks", "create", "jobs")
	p.ok("tasks", "create", "files")
	p.ok("exec", "once", "-q", "--instance", "gone", "--", "true")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"roles|":                          {"metrics", "once", "pause", "resume", "rm", "scheduler"},
		"roles|rm|once|":                  {"metrics", "scheduler"},
		"roles|metrics|":                  {"once", "scheduler"},
		"watch|metrics|":                  {"once", "scheduler"},
		"inspect|":                        {"metrics", "once", "scheduler"},
		"inspect|metrics|":                nil,
		"step-down|":                      {"metrics", "once", "scheduler"},
		"transfer|scheduler|":             {"b"},
		"exec|":                           {"metrics", "once", "scheduler"},
		"exec|scheduler|--instance|":      {"gone", host}, // a name that lives would be refused
		"exec|scheduler|--on-lost|":       {"exit", "wait"},
		"roles|--output|":                 {"json", "name", "table", "wide"},
		"roles|-b|":                       {"other", "roles"},
		"bucket|check|":                   {"other", "roles"},
		"bucket|create|x|--replicas|":     {"1", "3", "5"},
		"tasks|ls|-n|":                    {"files", "jobs"},
		"tasks|drain|-n|":                 {"files", "jobs"},
		"-s|nats://127.0.0.1:1|roles|":    {"pause", "resume", "rm"},
		"-s|nats://127.0.0.1:1|roles|-b|": nil,
	} {
		p.completes(line, want...)
	}
}

// TestCompletionOfTasks: kinds and workers come from the scheduler, tasks from it and from the
// stream.
func TestCompletionOfTasks(t *testing.T) {
	t.Parallel()
	w := working(t)
	w.ok("tasks", "submit", "gate", "{}", "--id", "open-1")
	w.ok("tasks", "submit", "other", "{}", "--id", "open-2")
	w.ok("tasks", "submit", "fail", "{}", "--id", "dead-1")
	w.ok("tasks", "submit", "double", "1", "--id", "done-1")
	w.in("done-1", assign.StateSucceeded) // it would wait while its kind is paused
	w.ok("tasks", "pause", "double")
	w.ok("tasks", "cron", "set", "nightly", "double", "@daily", "1")
	w.in("dead-1", assign.StateDead)
	for line, want := range map[string][]string{
		"tasks|pause|":         {"fail", "gate", "other"},
		"tasks|resume|":        {"double"},
		"tasks|limits|":        {"double", "fail", "gate", "other"},
		"tasks|submit|":        {"double", "fail", "gate", "other"},
		"tasks|cron|set|n|":    {"double", "fail", "gate", "other"},
		"tasks|cron|rm|":       {"nightly"},
		"tasks|cancel|":        {"open-1", "open-2"},
		"tasks|cancel|open-1|": nil,
		"tasks|requeue|":       {"dead-1"},
		"tasks|get|":           {"dead-1", "done-1", "open-1", "open-2"},
		"tasks|get|d":          {"dead-1", "done-1"},
		"tasks|drain|":         {"a"},
		"tasks|undrain|":       nil,
		"tasks|ls|--state|": {
			"cancelled", "dead", "delayed", "expired", "pending", "retrying", "running", "skipped",
			"succeeded",
		},
		"-s|nats://127.0.0.1:1|tasks|drain|": nil,
	} {
		w.completes(line, want...)
	}
	w.ok("tasks", "drain", "a")
	w.completes("tasks|undrain|", "a")
	w.completes("tasks|drain|")
}
