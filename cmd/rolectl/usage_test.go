package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestUsage: bad input gets one line that says what to do.
func TestUsage(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	for args, says := range map[string]string{
		"dance":                    "rolectl --help",
		"roles -o yaml":            "use table, wide, json, name",
		"roles --color":            "unknown flag: --color",
		"inspect":                  "accepts 1 arg",
		"step-down":                "accepts 1 arg",
		"step-down a --epoch soon": "invalid argument",
		"transfer a":               "accepts 2 arg",
		"watch --timeout soon":     "invalid argument",
		"members all":              "unknown command",
		"bucket dance":             `unknown command "dance" for "rolectl bucket"`,
		"bench --rounds 0":         "use 1 or more",
		"bench --only all":         "use heartbeat",
		"bench --storage tape":     "use file or memory",
		"doctor now":               "unknown command",
		"dev --port many":          "invalid argument",
	} {
		r := p.run(strings.Fields(args)...)
		if r.code != exitUsage || r.out != "" || !strings.Contains(r.errors, says) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%s: exit %d, %q", args, r.code, r.errors)
		}
	}
}

// TestHelp: every command has a help with an example.
func TestHelp(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	var a app
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			visit(c)
		}
		if cmd.Hidden || cmd.Name() == "help" || cmd.HasParent() && cmd.Parent().Name() == "completion" {
			return
		}
		if !cmd.HasSubCommands() && cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		if strings.Count(cmd.Short, "\n") != 0 || cmd.Short == "" {
			t.Errorf("%s: %q", cmd.CommandPath(), cmd.Short)
		}
		for line := range strings.Lines(cmd.Long) {
			if len([]rune(line)) > 130 {
				t.Errorf("%s: a line of %d columns", cmd.CommandPath(), len(line))
			}
		}
	}
	visit(root(&a))
	for _, args := range []string{"--help", "exec --help", "step-down --help", "doctor --help"} {
		if out := p.ok(strings.Fields(args)...).out; !strings.Contains(out, "Examples:") {
			t.Errorf("%s:\n%s", args, out)
		}
	}
	if out := p.ok("exec", "--help").out; !strings.Contains(out, "SIGSTOP") || !strings.Contains(out, "before anything else") {
		t.Errorf("it does not say what happens when rolectl is stopped:\n%s", out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := p.ok("completion", shell).out; !strings.Contains(out, "rolectl") {
			t.Errorf("completion for %s: %.80q", shell, out)
		}
	}
}

// TestCompletion: names come from the bucket; without a server there are none, and nothing is said.
func TestCompletion(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	contend(t, p.member("c"), election.RoleConfig{Role: "metrics"})
	for args, want := range map[string][]string{
		"roles\x00":                             {"metrics", "scheduler"},
		"roles\x00metrics\x00":                  {"scheduler"},
		"inspect\x00":                           {"metrics", "scheduler"},
		"inspect\x00metrics\x00":                nil,
		"step-down\x00":                         {"metrics", "scheduler"},
		"transfer\x00scheduler\x00":             {"b"},
		"exec\x00":                              {"metrics", "scheduler"},
		"roles\x00--output\x00":                 {"json", "name", "table", "wide"},
		"-s\x00nats://127.0.0.1:1\x00roles\x00": nil,
	} {
		natstest.Eventually(t, strings.ReplaceAll(args, "\x00", " "), patience, func() (bool, string) {
			r := p.ok(append([]string{"__complete"}, strings.Split(args, "\x00")...)...)
			got := strings.Fields(r.out)
			got = got[:len(got)-1] // the directive
			slices.Sort(got)
			return slices.Equal(got, want), r.out + r.errors
		})
	}
}
