package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/rolemanager/rolemanager"

// allowed lists the packages of this module that each package may import; a trailing /... means a
// package and those below it. A package has the rule of its own name, else that of the nearest
// folder. A package without a rule may import nothing: add it here, and think first.
var allowed = map[string][]string{
	"event":           {},
	"fencing":         {"internal/natskv"},
	"metrics":         {"event"},
	"internal/naming": {},
	"internal/protocol": {
		"internal/naming", "internal/protocol/record", "internal/protocol/spread", "internal/protocol/view",
		"internal/protocol/zone",
	},
	"internal/protocol/record": {"internal/naming"},
	"internal/protocol/view":   {"internal/protocol/record"},
	"internal/protocol/spread": {"internal/protocol/record", "internal/protocol/view"},
	"internal/protocol/zone":   {"internal/protocol/record"},
	"internal/protocol/ending": {"internal/protocol/record", "internal/protocol/view"},
	"internal/protocol/tasks": {
		"internal/protocol/record", "internal/protocol/tasks/bundles", "internal/protocol/tasks/groups",
		"internal/protocol/tasks/queue", "internal/protocol/tasks/reach", "internal/protocol/tasks/recurring",
		"internal/protocol/tasks/streamclock",
	},
	"internal/protocol/tasks/ahead":       {"internal/protocol/record"},
	"internal/protocol/tasks/gaps":        {},
	"internal/protocol/tasks/bundles":     {"internal/protocol/record"},
	"internal/protocol/tasks/gather":      {"internal/protocol/record"},
	"internal/protocol/tasks/groups":      {},
	"internal/protocol/tasks/queue":       {"internal/protocol/record"},
	"internal/protocol/tasks/reach":       {"internal/protocol/record"},
	"internal/protocol/tasks/recurring":   {},
	"internal/protocol/tasks/streamclock": {"internal/protocol/record"},
	"internal/protocol/tasks/unique":      {"internal/protocol/record"},
	"internal/protocol/tasks/workers":     {"internal/protocol/tasks"},
	"internal/protocol/tasks/frame":       {"internal/protocol/tasks", "internal/protocol/tasks/workers"},
	"internal/clock":                      {},
	"internal/mailbox":                    {},
	"internal/natskv":                     {"internal/mailbox"},
	"internal/adoption":                   {"internal/natskv", "internal/protocol/record"},
	"internal/bridge":                     {"fencing", "internal/clock"},
	"internal/natsrun":                    {},
	"internal/wording":                    {},
	"internal/seconds":                    {},
	"internal/kubeapi":                    {},
	"kube":                                {"election", "internal/kubeapi", "internal/wording"},
	"internal/findings": {
		"assign", "election", "internal/protocol", "internal/protocol/record", "internal/wording",
	},
	"internal/exporter":  {"election", "internal/findings"},
	"dashboard":          {"assign", "election", "event", "internal/findings", "internal/seconds", "internal/wording"},
	"internal/guardlink": {"internal/protocol/ending"},
	"internal/deadlease": {
		"internal/guardlink", "internal/natskv", "internal/protocol/ending", "internal/protocol/record",
	},
	"internal/offspring": {},
	"internal/systemd":   {"event"},
	"internal/witness":   {},
	"guard": {
		"internal/deadlease", "internal/guardlink", "internal/offspring", "internal/protocol/ending",
		"internal/protocol/record", "internal/witness",
	},
	"internal/shardcount": {"internal/natskv", "internal/protocol/record"},
	"internal/natstest":   {"internal/natsrun", "internal/natstest/race"},
	"election": {
		"event", "fencing", "internal/bridge", "internal/clock", "internal/guardlink",
		"internal/mailbox",
		"internal/natsconn", "internal/natskv", "internal/naming", "internal/protocol", "internal/protocol/record",
		"internal/protocol/spread", "internal/protocol/view", "internal/protocol/zone", "internal/seconds",
		"internal/shardcount",
	},
	"discovery": {"election", "internal/kubeapi"},
	"roles": {
		"discovery", "election", "event", "fencing", "internal/bridge", "internal/natsconn", "internal/seconds",
		"internal/systemd", "internal/wording",
	},
	"assign": {
		"election", "event", "fencing", "internal/bridge", "internal/natskv", "internal/naming", "internal/protocol/tasks",
		"internal/protocol/tasks/groups", "internal/seconds",
		"assign/internal/client", "assign/internal/control", "assign/internal/record", "assign/internal/scheduler",
		"assign/internal/sealed",
		"assign/internal/shortcut", "assign/internal/stream",
		"assign/internal/taskerr", "assign/internal/worker",
	},
	"assign/internal/taskerr": {"election", "internal/natskv"},
	"assign/internal/record": {
		"assign/internal/taskerr", "internal/natskv", "internal/naming", "internal/protocol/tasks",
		"internal/protocol/tasks/bundles", "internal/protocol/tasks/frame", "internal/protocol/tasks/groups",
		"internal/protocol/tasks/recurring",
	},
	"assign/internal/control": {"internal/protocol/tasks"},
	"assign/internal/stream": {
		"assign/internal/record", "assign/internal/taskerr", "internal/natskv", "internal/protocol/tasks/gather",
	},
	"assign/internal/client": {
		"assign/internal/control", "assign/internal/record", "assign/internal/sealed", "assign/internal/stream",
		"assign/internal/taskerr",
		"internal/clock", "internal/natsconn", "internal/natskv", "internal/naming", "internal/protocol/record",
		"internal/protocol/tasks",
		"internal/protocol/tasks/bundles", "internal/protocol/tasks/gather", "internal/protocol/tasks/groups",
		"internal/protocol/tasks/unique",
	},
	"assign/internal/scheduler": {
		"assign/internal/control", "assign/internal/feeds", "assign/internal/record", "assign/internal/shortcut",
		"assign/internal/stream",
		"assign/internal/taskerr", "assign/internal/timings", "assign/internal/upkeep",
		"election", "event", "fencing", "internal/mailbox", "internal/natsconn", "internal/natskv", "internal/naming",
		"internal/protocol/record", "internal/protocol/tasks", "internal/protocol/tasks/frame",
		"internal/protocol/tasks/ahead", "internal/protocol/tasks/bundles", "internal/protocol/tasks/gaps",
		"internal/protocol/tasks/gather", "internal/protocol/tasks/groups", "internal/protocol/tasks/workers",
	},
	"assign/internal/sealed":  {"assign/internal/record", "assign/internal/taskerr"},
	"assign/keyring":          {"assign"},
	"assign/internal/feeds":   {"assign/internal/control", "internal/naming"},
	"assign/internal/timings": {},
	// The way in memory knows neither the bytes nor the two that it joins.
	"assign/internal/shortcut": {},
	"assign/internal/upkeep": {
		"assign/internal/record", "assign/internal/stream", "assign/internal/taskerr",
		"event", "internal/natskv", "internal/protocol/tasks", "internal/protocol/tasks/bundles",
	},
	"assign/internal/worker": {
		"assign/internal/control", "assign/internal/record", "assign/internal/sealed", "assign/internal/shortcut",
		"assign/internal/stream",
		"assign/internal/taskerr",
		"election", "event", "fencing", "internal/bridge", "internal/mailbox", "internal/natsconn", "internal/natskv",
		"internal/protocol/tasks", "internal/protocol/tasks/frame", "internal/protocol/tasks/workers",
	},
	"internal/natsconn":     {"internal/mailbox", "internal/natskv"},
	"assign/assignotel":     {"assign"},
	"election/electionotel": {"event"},
	"electiontest":          {"election", "internal/bridge"},
	"assigntest": {
		"assign", "election", "fencing", "roles", "internal/bridge", "internal/natsrun",
		"internal/natstest",
	},
	"examples/datacenters":              {"election", "event", "roles", "examples/datacenters/internal/lab"},
	"examples/datacenters/internal/lab": {"internal/natsrun"},

	"examples/multi-role": {"assign", "election", "event", "fencing", "guard", "metrics", "roles", stagePackage},
	stagePackage:          {"assign", "dashboard", "election", "event", "internal/natsrun", "roles"},

	// The other examples are copied by people, so they import public packages alone.
	"examples/...": {
		"assign/...", "dashboard", "discovery", "election/...", "event", "fencing", "guard", "kube", "metrics", "roles",
	},

	// The property tests have three wings. The model has no server, and a campaign runs tests by their
	// command line.
	"propertytests":           {},
	"propertytests/model/...": {"fencing", "internal/protocol/...", "propertytests/model/..."},
	"propertytests/live/...": {
		"assign", "assign/keyring", "election", "event", "fencing", "roles", "internal/...", "propertytests/live/...",
	},
	"propertytests/campaign/...": {"propertytests/campaign/...", "internal/natstest/thorough/..."},

	"bench/...":             {"assign", "bench/...", "election", "event", "internal/natskv", "internal/natsrun"},
	"deploy/grafana":        {},
	"internal/architecture": {},
	"internal/check":        {"internal/natstest/thorough/draw"},
	"internal/natstest/...": {"internal/natstest/thorough/draw"},

	// The command-line tool has the root, groups of commands that do not know each other, the
	// inventory of a bucket, and the parts that all have in common.
	"cmd/rolectl": append(under("cmd/rolectl/internal", "bench", "bucket", "cli", "dev", "doctor", "exec",
		"exporter", "guard", "roles", "show", "tasks", "ui"), "internal/wording"),
	"cmd/rolectl/internal/guard": append(under("cmd/rolectl/internal", "cli"), "guard", "internal/systemd"),
	"cmd/rolectl/internal/bench": append(under("cmd/rolectl/internal", "cli", "inventory", "show"), "assign",
		"election", "event", "internal/natskv"),
	"cmd/rolectl/internal/bucket": append(under("cmd/rolectl/internal", "cli", "dryrun", "show"), "internal/wording",
		"internal/adoption", "internal/natskv"),
	"cmd/rolectl/internal/dev": append(under("cmd/rolectl/internal", "cli", "inventory", "show"),
		"internal/findings", "internal/wording", "assign",
		"dashboard", "election", "internal/natskv", "internal/natsrun", "internal/bridge"),
	"cmd/rolectl/internal/doctor": append(under("cmd/rolectl/internal", "cli", "connect", "inventory", "show"),
		"internal/findings", "internal/wording", "assign",
		"election", "internal/natskv", "internal/protocol", "internal/protocol/record"),
	"cmd/rolectl/internal/exec": append(under("cmd/rolectl/internal", "cli", "inventory", "show", "supervise"),
		"internal/findings", "internal/wording",
		"election", "event", "internal/natskv", "internal/protocol/record", "internal/bridge", "internal/systemd"),
	"cmd/rolectl/internal/exporter": append(under("cmd/rolectl/internal", "cli", "doctor", "inventory", "show"),
		"election", "internal/exporter", "internal/findings"),
	"cmd/rolectl/internal/roles": append(under("cmd/rolectl/internal", "cli", "inventory", "show"),
		"internal/findings", "internal/wording", "election",
		"event", "internal/protocol/record"),
	"cmd/rolectl/internal/tasks": append(under("cmd/rolectl/internal", "cli", "dryrun", "inventory", "show"),
		"internal/findings", "internal/wording", "assign",
		"assign/keyring", "internal/natskv"),
	"cmd/rolectl/internal/inventory": append(under("cmd/rolectl/internal", "cli", "show"),
		"internal/findings", "internal/wording", "assign", "election",
		"internal/natskv", "internal/protocol/record"),
	"cmd/rolectl/internal/cli": append(under("cmd/rolectl/internal", "connect", "show"),
		"internal/wording", "assign", "election",
		"internal/natskv", "internal/naming"),
	"cmd/rolectl/internal/dryrun": append(under("cmd/rolectl/internal", "cli", "show"),
		"internal/natskv", "internal/natsrun"),
	"cmd/rolectl/internal/connect":   {"discovery", "internal/natskv"},
	"cmd/rolectl/internal/show":      {"internal/wording"},
	"cmd/rolectl/internal/supervise": {"internal/clock", "internal/offspring"},
	"cmd/rolectl/internal/ui": append(under("cmd/rolectl/internal", "cli", "inventory", "show"),
		"assign", "dashboard",
		"election"),
}

// under names packages below a folder.
func under(folder string, names ...string) (all []string) {
	for _, name := range names {
		all = append(all, folder+"/"+name)
	}
	return all
}

// only lists the packages that may import a package from outside.
var only = map[string][]string{
	"go.uber.org/zap": {"roles"},
	"github.com/prometheus/client_golang": {
		"metrics", "internal/exporter", "cmd/rolectl/internal/exporter", "examples/...",
	},
	"github.com/nats-io/nats-server/v2": {
		"internal/natsrun", "internal/natstest", "electiontest", "assigntest",
		"examples/...", "bench/...", "cmd/rolectl/internal/dev",
		"cmd/rolectl/internal/dryrun",
	},
	"go.opentelemetry.io/otel":    {"assign/assignotel", "election/electionotel", "examples/..."},
	"go.opentelemetry.io/contrib": {"examples/..."},
	"github.com/robfig/cron/v3":   {"assign/internal/record"},
	"testing":                     {"internal/natstest/...", "electiontest", "assigntest", "propertytests/..."},
}

// pure packages have no I/O, no clock and no concurrency of their own.
var pure = []string{
	"internal/naming", "internal/protocol", "internal/protocol/record", "internal/protocol/spread",
	"internal/protocol/view", "internal/protocol/zone",
	"internal/protocol/tasks", "internal/protocol/tasks/ahead", "internal/protocol/tasks/bundles",
	"internal/protocol/tasks/frame", "internal/protocol/tasks/gaps", "internal/protocol/tasks/gather",
	"internal/protocol/tasks/groups", "internal/protocol/tasks/queue", "internal/protocol/tasks/reach",
	"internal/protocol/tasks/recurring", "internal/protocol/tasks/streamclock",
	"internal/protocol/tasks/unique", "internal/protocol/tasks/workers",
}

var impure = []string{"context", "sync", "sync/atomic", "net", "os", "io", "log", "log/slog"}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		may, ruled := rule(name)
		if !ruled {
			t.Errorf("%s has no rule: list in allowed of this test what it may import", name)
		}
		for _, imported := range p.Imports {
			own, ok := strings.CutPrefix(imported, module+"/")
			if ok && ruled && !matches(may, own) {
				t.Errorf("%s imports %s, which is not its to know: see allowed in this test", name, own)
			}
			for outside, who := range only {
				if (imported == outside || strings.HasPrefix(imported, outside+"/")) && !matches(who, name) {
					t.Errorf("%s imports %s, which only %v may", name, imported, who)
				}
			}
			if slices.Contains(pure, name) && slices.Contains(impure, imported) {
				t.Errorf("%s imports %s: it is pure", name, imported)
			}
		}
	}
}

// rule is what a package may import of this module, by its own name or by its nearest folder.
func rule(name string) (may []string, ok bool) {
	may, ok = allowed[name]
	for folder := name; !ok && folder != "."; folder = path.Dir(folder) {
		may, ok = allowed[folder+"/..."]
	}
	return may, ok
}

// TestRule: a package has the rule of its own name before those of folders, and a package of a new
// folder has none.
func TestRule(t *testing.T) {
	for name, want := range map[string][]string{
		"internal/natstest":                 allowed["internal/natstest"],
		"internal/natstest/race":            allowed["internal/natstest/..."],
		"propertytests/model":               allowed["propertytests/model/..."],
		"propertytests/model/explore/tasks": allowed["propertytests/model/..."],
	} {
		if got, ok := rule(name); !ok || !slices.Equal(got, want) {
			t.Errorf("%s may import %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"eventual", "internal", "internal/new", "propertytests/new"} {
		if got, ok := rule(name); ok {
			t.Errorf("%s may import %v without a rule", name, got)
		}
	}
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		below, tree := strings.CutSuffix(p, "/...")
		return name == p || tree && (name == below || strings.HasPrefix(name, below+"/"))
	})
}

func list(t *testing.T) (all []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
