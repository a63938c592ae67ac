package main

import (
	"debug/buildinfo"
	"runtime"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
)

// TestUsage: bad input gets one line that says what to do. Monitoring reads the doctor's 2 as
// critical: its bad usage is 3.
func TestUsage(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	for args, says := range map[string]string{
		"help dance":                                     "no command",
		"completion dance":                               "unknown command",
		"roles --timeout 0s":                             "use 1ms or more",
		"roles --timeout -1s":                            "use 1ms or more",
		"roles -b a.b":                                   "ROLES_BUCKET",
		"roles --creds /nope":                            "--creds",
		"roles -s nats://127.0.0.1:99999":                "nats://host:port",
		"roles -s :::":                                   "nats://host:port",
		"roles -s http://127.0.0.1:1":                    "nats://host:port",
		"roles --tlsca /proc/version":                    "contains no certificate",
		"roles --tlscert /nope --tlskey /nope":           "--tlscert, --tlskey",
		"inspect r --for -1s":                            "use 0s or more",
		"step-down r --wait 0s":                          "use 1ms or more",
		"transfer r":                                     "INSTANCE is missing: rolectl transfer ROLE INSTANCE",
		"exec x --ttl 0s -- true":                        "use 300ms or more",
		"exec x --ttl -1s -- true":                       "use 300ms or more",
		"exec x --stop-timeout -5s -- true":              "use 0s or more",
		"exec x --on-lost dance -- true":                 "use exit or wait",
		"bucket create x --replicas 2":                   "use 1, 3 or 5",
		"bucket create x --max-ttl 0s":                   "use 1s or more",
		"bucket create x.y --dry-run":                    "use letters",
		"bench --ttl 0s":                                 "use 300ms or more",
		"dev --port 99999":                               "use 1 to 65535",
		"doctor --nope":                                  "unknown flag",
		"doctor --for -1s":                               "use 0s or more",
		"doctor -b a.b":                                  "ROLES_BUCKET",
		"doctor --creds /nope":                           "--creds",
		"doctor -o yaml":                                 "use table, wide, json or name",
		"tasks create":                                   "NAMESPACE is missing",
		"tasks create a..b --dry-run":                    "a..b",
		"bucket create x --max-bytes lots":               "use a number of bytes such as 67108864, 64MiB or 1GB",
		"bucket create x --max-bytes -1":                 "use a number of bytes",
		"bucket create x --max-bytes 9999999TiB":         "use a number of bytes",
		"tasks create a --max-bytes 1kB":                 "use 1048576 (1MiB) or more",
		"tasks create a --replicas 4":                    "use 1, 3 or 5",
		"tasks submit -n x k 1 --delay -1s":              "use 0s or more",
		"tasks submit -n x k 1 --wait-timeout 1s":        "needs --wait",
		"tasks submit -n x":                              "KIND is missing: rolectl tasks submit KIND [INPUT|-]",
		"tasks submit -n x k 1 2":                        "unexpected argument",
		"tasks cron set -n x n k":                        "SCHEDULE is missing",
		"tasks cron set -n x n k @daily --catch-up x":    "use latest, all or skip",
		"tasks cron set -n x n k @daily --overlap x":     "use allow, skip, queue or cancel",
		"tasks cron backfill -n x r":                     "--from is missing",
		"tasks cron backfill -n x r --from then":         "an age such as 2h",
		"dance":                                          "rolectl --help",
		"roles -o yaml":                                  "use table, wide, json or name",
		"roles --dance":                                  "unknown flag: --dance",
		"roles --color red":                              "use auto, always or never",
		"inspect":                                        "ROLE is missing: rolectl inspect ROLE",
		"step-down":                                      "ROLE is missing",
		"step-down a --epoch soon":                       `invalid argument "soon" for "--epoch" flag: use a whole number, 0 or more (see`,
		"step-down a --epoch -1":                         "use a whole number, 0 or more",
		"inspect a:b":                                    `"a:b" is not a valid name for a role: use letters`,
		"roles a b:c":                                    `"b:c" is not a valid name for a role`,
		"transfer a b:c --yes":                           `"b:c" is not a valid name for an instance`,
		"exec x --wait soon -- true":                     "use a duration such as 5s",
		"exec x --takeover=perhaps -- true":              "use true or false",
		"exec x --priority 99999999999999999999 -- true": "it is too large",
		"tasks submit -n x k 1 --priority 1000":          `"--priority" flag: use -100 to 100`,
		"tasks submit -n x k 1 --attempts many":          "use 0 to 10000",
		"tasks submit -n x k 1 --label x":                "use name=value",
		"watch --timeout soon":                           "invalid argument",
		"members all":                                    "unexpected argument",
		"bucket dance":                                   `unknown command "dance" for "rolectl bucket"`,
		"doctor --for 87600h1s":                          "use at most 87600h0m0s",
		"roles --timeout 2562047h":                       "use at most 87600h0m0s",
		"bench --rounds 0":                               "use 1 to 1000000",
		"bench --only all":                               "use heartbeat",
		"bench --storage tape":                           "use file or memory",
		"doctor now":                                     "unexpected argument",
		"dev --port many":                                "invalid argument",
	} {
		r := p.here(strings.Fields(args)...)
		code := cli.ExitUsage
		if strings.HasPrefix(args, "doctor") {
			code = doctorUnknown
		}
		if r.code != code || r.out != "" || !strings.Contains(r.errors, says) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%s: exit %d, %q", args, r.code, r.errors)
		}
	}
}

// TestVersion: it names the version of this module, and of the server that dev runs.
func TestVersion(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	built := func(args ...string) string { // the tests are another program
		r := p.start(args...).wait()
		if r.code != 0 {
			t.Fatalf("rolectl %v: exit %d, %q", args, r.code, r.errors)
		}
		return r.out
	}
	build, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	built("--version", "-o", "json")
	v := document[map[string]any](t, built("version", "-o", "json"))
	if v["version"] != build.Main.Version || v["nats_client"] != nats.Version || v["go"] != runtime.Version() {
		t.Errorf("version: %v", v)
	}
	if out := built("version"); !strings.Contains(out, "commit  ") || strings.Count(out, "\n") != 5 {
		t.Errorf("version: %s", out)
	}
	if out := built("--version"); !strings.Contains(out, build.Main.Version) ||
		!strings.Contains(out, "nats-server "+server.VERSION) || strings.Count(out, "\n") != 1 {
		t.Errorf("%q, the binary is %s", out, build.Main.Version)
	}
}

// TestHelp: every command has a help with an example.
func TestHelp(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
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
	visit(root(cli.OfProcess()))
	for _, args := range []string{"--help", "exec --help", "step-down --help", "doctor --help"} {
		if out := p.ok(strings.Fields(args)...).out; !strings.Contains(out, "Examples:") {
			t.Errorf("%s:\n%s", args, out)
		}
	}
	options := p.ok("options").out
	help := p.ok("roles", "--help").out
	for _, flag := range []string{"--server", "--creds", "--output", "--color"} {
		if !strings.Contains(options, flag+" ") || strings.Contains(help, flag+" ") ||
			!strings.Contains(help, "rolectl options") {
			t.Errorf("%s is not shown by options alone:\n%s\n%s", flag, options, help)
		}
	}
	if out := p.ok("--help").out; strings.Contains(out, "--creds ") || !strings.Contains(out, "--version") {
		t.Errorf("the help shows the global flags, or not its own:\n%s", out)
	}
	if out := p.ok("tasks", "ls", "--help").out; !strings.Contains(out, "--namespace ") ||
		!strings.Contains(out, "--state ") {
		t.Errorf("the flag of all tasks commands is missing:\n%s", out)
	}
	if out := p.ok("exec", "--help").out; !strings.Contains(out, "SIGSTOP") ||
		!strings.Contains(out, "ended first when they continue") {
		t.Errorf("it does not say what happens when rolectl is stopped:\n%s", out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := p.ok("completion", shell).out; !strings.Contains(out, "rolectl") {
			t.Errorf("completion for %s: %.80q", shell, out)
		}
	}
}
