package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// begin starts a dev server in dir, and returns when it is ready, with a user of it.
func (p *place) begin(dir string, args ...string) (*process, *place) {
	p.t.Helper()
	dev := p.start(append([]string{"dev", "--port", "0", "--store-dir", dir}, args...)...)
	dev.says(&dev.out, "\n")
	url, _, _ := strings.Cut(dev.out.String(), "\n")
	return dev, &place{t: p.t, env: append(clean(p.t), "NATS_URL="+url)}
}

// TestDev: the other commands work on it, and a store directory is used again at the next start.
func TestDev(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	dir := t.TempDir() + "/store"
	dev, user := p.begin(dir)
	user.ok("bucket", "check", "roles")
	user.ok("bucket", "create", "mine")
	if out := user.ok("tasks", "submit", "-n", "jobs", "hello", "1", "--id", "first").out; out != "first\n" {
		t.Errorf("submitted: %q", out)
	}
	user.ok("tasks", "pause", "-n", "jobs", "hello")
	user.ok("exec", "scheduler", "-q", "--", "true")
	port := strings.TrimPrefix(strings.TrimSpace(dev.out.String()), "nats://127.0.0.1:")
	if r := p.run("dev", "--port", port, "--store-dir", t.TempDir()); r.code != cli.ExitFailed ||
		!strings.Contains(r.errors, "give --port 0 to use a free port") || strings.Count(r.errors, "\n") != 1 {
		t.Errorf("on a port that is taken: exit %d, %q", r.code, r.errors)
	}
	if r := p.run("dev", "--port", "0", "--store-dir", dir); r.code != cli.ExitFailed ||
		!strings.Contains(r.errors, dir) ||
		!strings.Contains(r.errors, "--store-dir DIR") || strings.Count(r.errors, "\n") != 1 || r.out != "" {
		t.Errorf("on a store that is in use: exit %d, %q, %q", r.code, r.out, r.errors)
	}
	dev.signal(syscall.SIGTERM)
	if r := dev.wait(); r.code != 0 {
		t.Errorf("told to stop: exit %d, %s", r.code, r.errors)
	}
	dev, user = p.begin(dir)
	user.ok("bucket", "check", "mine")
	user.ok("tasks", "get", "-n", "jobs", "first")
	if out := user.ok("roles", "-o", "name").out; out != findings.DevMember+"\nscheduler\n" {
		t.Errorf("after a restart: %q", out)
	}
	dev.signal(syscall.SIGKILL) // and the next one waits for its lease
	<-dev.done
	_, user = p.begin(dir)
	user.ok("tasks", "submit", "-n", "jobs", "echo", "1", "--wait")
	if d := document[taskDoc](t, user.ok("tasks", "submit", "-n", "jobs", "echo", "--raw", "not JSON", "--wait", "-o",
		"json").out); string(d.Bytes) != "not JSON" || d.Result != nil {
		t.Errorf("output that is not JSON: %+v", d)
	}
}

// TestDevInMemory: without a store directory it keeps everything in memory: two servers do not
// disturb each other, the doctor finds nothing wrong, and the next start is empty.
func TestDevInMemory(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: append(clean(t), "TMPDIR="+t.TempDir())}
	start := func() (dev *process, user *place, url string) {
		dev = p.start("dev", "--port", "0", "-o", "json")
		dev.says(&dev.out, "\n")
		d := eachLine[devDoc](t, dev.out.String())[0]
		if d.StoreDir != "" {
			t.Errorf("store directory %q", d.StoreDir)
		}
		return dev, &place{t: t, env: append(clean(t), "NATS_URL="+d.URL)}, d.URL
	}
	one, first, url := start()
	_, second, _ := start()
	first.ok("tasks", "submit", "-n", "jobs", "echo", "1", "--id", "kept", "--wait")
	nc, err := nats.Connect(url, nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"KV_roles", "TASKS_jobs", "OBJ_TASKS_jobs"} {
		if s, err := js.Stream(t.Context(), name); err != nil || s.CachedInfo().Config.Storage != jetstream.MemoryStorage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := second.run("tasks", "get", "-n", "jobs", "kept"); r.code != cli.ExitFailed {
		t.Errorf("the other server knows the task: exit %d, %s", r.code, r.out)
	}
	said := first.healthy()
	if !strings.Contains(said, "in memory, until rolectl dev ends") {
		t.Errorf("doctor: %s", said)
	}
	if says, does := documentedChecks(t), checksOf(said); !slices.Equal(says, does) {
		t.Errorf("the checks of the documented sample are %q, and those of the doctor %q", says, does)
	}
	one.signal(syscall.SIGTERM)
	if r := one.wait(); r.code != 0 {
		t.Errorf("told to stop: exit %d, %s", r.code, r.errors)
	}
	_, third, _ := start()
	if r := third.run("tasks", "get", "-n", "jobs", "kept"); r.code != cli.ExitFailed {
		t.Errorf("after a new start: exit %d, %s", r.code, r.out)
	}
}

// TestDevInvites: the commands that it suggests to a new user work unchanged.
func TestDevInvites(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: append(clean(t), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))}
	dev := p.start("dev", "--port", "0", "--store-dir", t.TempDir(), "--namespace", "try", "--bucket", "mine")
	dev.says(&dev.errs, "built-in worker")
	submitted := 0
	for line := range strings.Lines(dev.errs.String()) {
		if !strings.HasPrefix(line, "  ") || !strings.Contains(line, " tasks submit ") {
			continue
		}
		submitted++
		cmd := exec.Command("sh", "-c", line)
		cmd.Env = p.env
		out, err := cmd.Output()
		if text := string(out); err != nil || text != `"world"` && text != `"5s"` {
			t.Errorf("%s: %v, %q", strings.TrimSpace(line), err, text)
		}
	}
	if submitted != 2 {
		t.Errorf("it invites to submit %d tasks, want 2:\n%s", submitted, dev.errs.String())
	}
}

type devDoc struct {
	URL, Bucket, Namespace string
	StoreDir               string `json:"store_dir"`
	Worker                 *struct{ Instance, Role string }
}

// TestDevJSON: with -o json it is one line, and nothing else is said.
func TestDevJSON(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	for _, worker := range []bool{true, false} {
		dir := t.TempDir()
		dev := p.start("dev", "--port", "0", "--store-dir", dir, "-o", "json", fmt.Sprintf("--worker=%v", worker))
		dev.says(&dev.out, "\n")
		d := eachLine[devDoc](t, dev.out.String())[0]
		if d.Bucket != "roles" || d.Namespace != "jobs" || d.StoreDir != dir || (d.Worker != nil) != worker {
			t.Errorf("%+v", d)
		}
		user := &place{t: t, env: append(clean(t), "NATS_URL="+d.URL)}
		if out := user.ok("members", "-o", "name").out; (out == findings.DevMember+"\n") != worker {
			t.Errorf("with --worker=%v the members are %q", worker, out)
		}
		if worker {
			user.healthy()
		}
		dev.signal(syscall.SIGINT)
		if r := dev.wait(); r.code != 0 || r.errors != "" || strings.Count(r.out, "\n") != 1 {
			t.Errorf("exit %d, %q, %q", r.code, r.out, r.errors)
		}
	}
}

// TestDevWorkerLeaves: it makes room for a program that hands out tasks itself, under another role;
// not for one of which only the records are left, since it died together with the server.
func TestDevWorkerLeaves(t *testing.T) {
	thorough.Only(t, "it waits for a worker that leaves")
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	dir := t.TempDir()
	dev, user := p.begin(dir)
	program(t, dev, "mine")
	dev.says(&dev.errs, "mine works in jobs too")
	if out := user.ok("tasks", "submit", "-n", "jobs", "double", "21", "--wait").out; out != "42" {
		t.Errorf("the program's own task: %q", out)
	}
	natstest.Eventually(t, "the built-in worker has left", patience, func() (bool, string) {
		out := user.ok("members", "-o", "name").out
		return out == "mine\n", out
	})
	for _, line := range strings.Split(user.run("doctor", "--for", "0s").out, "\n") {
		if strings.Contains(line, findings.DevMember) && !strings.HasPrefix(line, "ok") {
			t.Errorf("doctor finds fault with a worker that has left: %s", line)
		}
	}
	dev.signal(syscall.SIGKILL)
	<-dev.done
	dev, user = p.begin(dir)
	if out := user.ok("members", "-o", "name").out; out != "mine\n"+findings.DevMember+"\n" {
		t.Fatalf("of the program the records are left: %q", out)
	}
	user.ok("tasks", "submit", "-n", "jobs", "sleep", `"3s"`, "--wait") // it looks around meanwhile
	if said := dev.errs.String(); strings.Contains(said, "mine works") {
		t.Errorf("it has left for a dead program: %s", said)
	}
}

// program is one that hands out tasks of the namespace jobs on a dev server, and runs those of the
// kind double. It goes with the server: its lease outlives it by far.
func program(t *testing.T, dev *process, instance string) {
	t.Helper()
	nc, err := nats.Connect(strings.TrimSpace(dev.out.String()), nats.Timeout(patience), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	s, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: instance, TTL: 8 * time.Second,
		CoolDown: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := assign.New(s, assign.Config{Namespace: "jobs", Role: "scheduler"})
	if err != nil {
		t.Fatal(err)
	}
	kind := assign.NewKind[int, int]("double")
	if err := assign.Handle(tasks, kind, func(_ context.Context, task *assign.Task[int]) (int, error) {
		return 2 * task.Input, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	e, err := s.Campaign(election.RoleConfig{Role: "scheduler", Lead: tasks.Lead})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

type benchDoc struct {
	Results []struct {
		Name  string  `json:"name"`
		Count int     `json:"count"`
		P50   float64 `json:"p50_seconds"`
		P99   float64 `json:"p99_seconds"`
	} `json:"results"`
}

// TestBench: it measures everything and leaves nothing behind, also when it is interrupted.
func TestBench(t *testing.T) {
	t.Parallel()
	p := at(t)
	streams := func() int {
		js := p.connect()
		m, err := js.Request("$JS.API.STREAM.NAMES", nil, patience)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(m.Data), "bench")
	}
	d := document[benchDoc](t, p.ok("bench", "--rounds", "2", "--ttl", "20s", "--only", "heartbeat,handover,task", "-o",
		"json").out)
	// a TTL so short may be too short for a busy machine
	natstest.Eventually(t, "a fail-over is measured", patience, func() (bool, string) {
		r := p.run("bench", "--rounds", "2", "--ttl", "600ms", "--only", "failover", "-o", "json")
		if r.code == 0 {
			d.Results = append(d.Results, document[benchDoc](t, r.out).Results...)
		}
		return r.code == 0, r.errors
	})
	for i, want := range []struct {
		name  string
		count int
	}{{"heartbeat", 20}, {"handover", 2}, {"task", 20}, {"failover", 2}} {
		if r := d.Results[i]; r.Name != want.name || r.Count != want.count || r.P50 <= 0 || r.P99 < r.P50 {
			t.Errorf("%+v, want %d of %s", r, want.count, want.name)
		}
	}
	r := p.ok("bench", "--rounds", "1", "--ttl", "20s", "--only", "heartbeat")
	if !strings.Contains(r.out, "P99") || !strings.Contains(r.out, " | #") || strings.Contains(r.out, "failover") {
		t.Errorf("as text:\n%s", r.out)
	}
	if chart, summary := strings.LastIndex(r.out, " | #"), strings.LastIndex(r.out, "P99"); summary < chart {
		t.Errorf("the summary is not the last thing in view:\n%s", r.out)
	}
	interrupted := p.start("bench", "--rounds", "1000", "--only", "failover")
	interrupted.says(&interrupted.errs, "fail-overs")
	interrupted.signal(syscall.SIGINT)
	if r := interrupted.wait(); r.code != 130 || !strings.HasSuffix(r.errors, "rolectl: interrupted\n") {
		t.Errorf("interrupted: exit %d, %q", r.code, r.errors)
	}
	if n := streams(); n != 0 {
		t.Errorf("%d streams are left behind", n)
	}
}

// TestBenchLosesServer: every measurement ends when the server is gone, and names the streams that
// remain there.
func TestBenchLosesServer(t *testing.T) {
	thorough.Only(t, "it waits for a server")
	t.Parallel()
	p := at(t)
	var all []*process
	// no lease runs out before the test does
	for name, what := range map[string]string{
		"heartbeat": "heartbeats", "handover": "hand-overs",
		"failover": "fail-overs", "task": "tasks",
	} {
		b := p.start("bench", "--rounds", "100000", "--ttl", "2m", "--only", name, "--timeout", "10s")
		b.says(&b.errs, what+" ...")
		all = append(all, b)
	}
	p.server.Stop()
	for _, b := range all {
		r := b.wait()
		if r.code != cli.ExitConnection || !strings.Contains(r.errors, "rolectl: the connection was lost") ||
			!strings.Contains(r.errors, "nats stream rm -f KV_rolectl-bench-") || strings.Count(r.errors, "\n") != 2 {
			t.Errorf("%s: exit %d, %q", b.name, r.code, r.errors)
		}
	}
}
