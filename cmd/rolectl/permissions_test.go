package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

const permissions = "../../docs/reference/permissions.md"

var confBlock = regexp.MustCompile("(?ms)^```conf\n(.*?)^```")

// documented starts a server with the configuration that docs/reference/permissions.md gives to
// copy.
func documented(t *testing.T) *place {
	t.Helper()
	text, err := os.ReadFile(permissions)
	if err != nil {
		t.Fatal(err)
	}
	block := confBlock.FindSubmatch(text)
	if block == nil {
		t.Fatalf("%s gives no configuration", permissions)
	}
	return configured(t, string(block[1]))
}

// configured starts a server with a configuration in text.
func configured(t *testing.T, text string) *place {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nats-server.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return at(t, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			said, err := server.ProcessConfigFile(file)
			if err != nil {
				t.Fatal(err)
			}
			said.Host, said.Port, said.StoreDir, said.JetStream = so.Host, so.Port, so.StoreDir, true
			said.NoSigs, said.NoLog, said.DontListen = true, true, so.DontListen
			*so = *said
		}
	})
}

// as is rolectl in the hands of a user of that configuration.
func (p *place) as(user string) *place {
	return &place{t: p.t, server: p.server, env: slices.Clip(append(
		p.env, "NATS_USER="+user, "NATS_PASSWORD=x", "NATS_INBOX_PREFIX=_INBOX_"+user, "TASKS_NAMESPACE=jobs",
	))}
}

// as logs a connection of this process in.
func as(user string) []nats.Option {
	return []nats.Option{
		nats.UserInfo(user, "x"), nats.CustomInboxPrefix("_INBOX_" + user),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
}

// TestDocumentedPermissions: with the configuration of docs/reference/permissions.md an observer
// can run every reading command and none other, an operator can steer, candidates can be run by
// exec, and the named users can submit and steer tasks.
func TestDocumentedPermissions(t *testing.T) {
	t.Parallel()
	p := documented(t)
	owner, observer, operator := p.as("owner"), p.as("o"), p.as("op")
	owner.ok("bucket", "create", "roles")
	a := scheduling(t, p)
	metrics := p.as("b").start("exec", "metrics", "--instance", "b", "--ttl", "20s", "--", "sh", "-c",
		"echo leads; sleep 1000")
	metrics.says(&metrics.out, "leads")

	for _, args := range []string{
		"roles", "roles scheduler -o json", "members -o json", "inspect scheduler", "inspect metrics -o json",
		"bucket check roles",
	} {
		observer.ok(strings.Fields(args)...)
		operator.ok(strings.Fields(args)...)
	}
	if r := observer.run("roles", "metrics", "-o", "json"); document[rolesDoc](t, r.out).Roles[0].Leader != "b" {
		t.Errorf("the observer sees %s", r.out)
	}
	w := observer.start("watch")
	w.says(&w.out, `"leader":"b"`)
	w.signal(syscall.SIGINT)
	if r := w.wait(); r.code != 0 {
		t.Errorf("watch: exit %d, %s", r.code, r.errors)
	}
	d := document[doctorDoc](t, observer.run("doctor", "--for", "100ms", "-o", "json").out)
	if !d.has("permissions", "ok", "may not steer") || !d.has("limits", "unknown", "not checked") ||
		!d.has("clusters", "unknown", "not looked at: this user may not publish to $SYS.REQ.SERVER.PING.CONNZ") ||
		!d.has("tasks", "unknown", "may not publish to $JS.API.STREAM.NAMES") || !d.has("records", "ok", "") {
		t.Errorf("the observer's doctor: %+v", d)
	}

	for _, args := range []string{"step-down scheduler --yes", "step-down scheduler --yes --force"} {
		r := observer.run(strings.Fields(args)...)
		if r.code != cli.ExitConnection || !strings.Contains(r.errors, ".ctl.a") &&
			!strings.Contains(r.errors, "$KV.roles.c.role.scheduler") {
			t.Errorf("%s by the observer: exit %d, %s", args, r.code, r.errors)
		}
	}
	if r := observer.run("roles", "pause", "metrics", "--yes"); r.code != cli.ExitConnection ||
		!strings.Contains(r.errors, "the user op of") || strings.Contains(r.errors, "neither") {
		t.Errorf("roles pause by the observer: exit %d, %s", r.code, r.errors)
	}
	if r := observer.run("bucket", "create", "other"); r.code != cli.ExitConnection ||
		!strings.Contains(r.errors, "permission denied") {
		t.Errorf("bucket create by the observer: exit %d, %s", r.code, r.errors)
	}
	if r := observer.run("bench", "--rounds", "1"); r.code != cli.ExitConnection ||
		!strings.Contains(r.errors, "permission denied") || strings.Contains(r.errors, "remove") {
		t.Errorf("bench by the observer: exit %d, %s", r.code, r.errors)
	}
	if !a.IsLeader() {
		t.Fatal("what was denied has cost a the role")
	}
	submitter, steward := p.as("s"), p.as("k")
	submitter.ok("tasks", "submit", "double", "4", "--id", "one", "--wait")
	submitter.ok("tasks", "get", "one")
	submitter.ok("tasks", "ls")
	submitter.ok("tasks", "submit", "double", "4", "--id", "later", "--delay", "1h")
	submitter.ok("tasks", "cancel", "later")
	steward.ok("tasks", "pause", "double")
	steward.ok("tasks", "resume", "double")
	steward.ok("tasks", "drain", "a")
	steward.ok("tasks", "undrain", "a")
	steward.ok("tasks", "cron", "set", "nightly", "double", "@daily", "1")
	steward.ok("tasks", "cron", "ls")
	steward.ok("tasks", "cron", "rm", "nightly")
	if r := steward.run("tasks", "overview"); r.code != cli.ExitConnection ||
		!strings.Contains(r.errors, "permission denied: this user may not publish to $TASKS.jobs.") {
		t.Errorf("overview by a user who may only steer: exit %d, %q", r.code, r.errors) // there is a scheduler
	}

	if r := operator.run("step-down", "metrics", "--yes", "--wait", "2s", "-o",
		"json"); metrics.wait().code != cli.ExitLost {
		t.Errorf("step-down by the operator: exit %d, %s", r.code, r.errors)
	}
	if r := operator.run("step-down", "scheduler", "--yes", "--force", "--wait", "1s"); r.code != 0 &&
		r.code != cli.ExitNoLeader {
		t.Errorf("by force, by the operator: exit %d, %s", r.code, r.errors)
	}
}

// TestDocumentedObserverOfTasks: an observer with the additional permissions of
// docs/reference/permissions.md sees tasks too, and changes nothing.
func TestDocumentedObserverOfTasks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(permissions)
	if err != nil {
		t.Fatal(err)
	}
	block, additional := confBlock.FindSubmatch(text), regexp.MustCompile(`(?m)^"\$JS\.API\.INFO".*\n".*$`).Find(text)
	const observer = "{ user: o, password: x, permissions: {\n        publish: [\n"
	if block == nil || additional == nil || !strings.Contains(string(block[1]), observer) {
		t.Fatalf("%s does not give them", permissions)
	}
	p := configured(t, strings.Replace(string(block[1]), observer, observer+string(additional)+"\n", 1))
	p.as("owner").ok("bucket", "create", "roles")
	scheduling(t, p)
	o := p.as("o")
	o.sees("the doctor looks at tasks", "ok", "jobs: 0 open, handed out by a to 1 worker")
	o.sees("and at large outputs", "ok", "jobs: there is no object store")
	if d, _ := o.diagnosis(); !d.has("limits", "ok", "the account is well below its JetStream limits") ||
		!d.has("clusters", "ok", "one server with JetStream") {
		t.Errorf("the account's limits: %v", d)
	}
	o.completes("tasks|ls|-n|", "jobs")
	o.completes("bucket|check|", "roles")
	if out := o.ok("tasks", "overview").out; !strings.Contains(out, "a hands out tasks") {
		t.Errorf("overview: %s", out)
	}
	elsewhere := place{t: t, server: p.server, env: append(o.env, "NATS_INBOX_PREFIX=")}
	if r := elsewhere.run("roles"); r.code != cli.ExitConnection ||
		!strings.Contains(r.errors, "--inbox-prefix (NATS_INBOX_PREFIX)") {
		t.Errorf("with answers where this user may not listen: exit %d, %s", r.code, r.errors)
	}
	if r := o.run("tasks", "submit", "double", "1"); r.code != cli.ExitConnection ||
		!strings.Contains(r.errors, "$KV.TASKS_jobs.q.") {
		t.Errorf("submit by an observer: exit %d, %s", r.code, r.errors)
	}
}

// scheduling opens a session as the user a, which schedules and runs the tasks of "jobs".
func scheduling(t *testing.T, p *place) *election.Election {
	t.Helper()
	owner, err := assign.NewClient(p.connect(as("owner")...),
		assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if _, err := assign.Get(t.Context(), owner, "none"); !errors.Is(err, assign.ErrTaskNotFound) { // it makes the stream
		t.Fatal(err)
	}
	s, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: "a", TTL: 20 * time.Second,
		CoolDown: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	work, err := assign.New(s, assign.Config{Namespace: "jobs", Role: "scheduler", DrainTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := assign.Handle(work, assign.NewKind[int, int]("double"),
		func(_ context.Context, t *assign.Task[int]) (int, error) { return 2 * t.Input, nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), p.connect(as("a")...)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	e, err := s.Campaign(election.RoleConfig{Role: "scheduler", Lead: work.Lead})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	leads(t, e)
	return e
}
