package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestDev: the other commands work on it, and what it has stored is there again at the next start.
func TestDev(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	dir := t.TempDir() + "/store"
	begin := func() (*process, *place) {
		t.Helper()
		dev := p.start("dev", "--port", "0", "--store-dir", dir)
		dev.says(&dev.errs, "rolectl watch")
		dev.says(&dev.out, "nats://") // another pipe
		url := strings.TrimSpace(dev.out.String())
		return dev, &place{t: t, env: append(clean(t), "NATS_URL="+url)}
	}
	dev, user := begin()
	user.ok("bucket", "check", "roles")
	user.ok("bucket", "create", "mine")
	if out := user.ok("tasks", "submit", "-n", "jobs", "hello", "1", "--id", "first").out; out != "first\n" {
		t.Errorf("submitted: %q", out)
	}
	user.ok("tasks", "pause", "-n", "jobs", "hello")
	user.ok("exec", "scheduler", "-q", "--", "true")
	port := strings.TrimPrefix(strings.TrimSpace(dev.out.String()), "nats://127.0.0.1:")
	if r := p.run("dev", "--port", port, "--store-dir", t.TempDir()); r.code != exitFailed || !strings.Contains(r.errors, "--port 0 --store-dir") || strings.Count(r.errors, "\n") != 1 {
		t.Errorf("on a port that is taken: exit %d, %q", r.code, r.errors)
	}
	if r := p.run("dev", "--port", "0", "--store-dir", dir); r.code != exitFailed || !strings.Contains(r.errors, dir) ||
		!strings.Contains(r.errors, "--store-dir DIR") || strings.Count(r.errors, "\n") != 1 || r.out != "" {
		t.Errorf("on a store that is in use: exit %d, %q, %q", r.code, r.out, r.errors)
	}
	dev.signal(syscall.SIGTERM)
	if r := dev.wait(); r.code != 0 {
		t.Errorf("told to stop: exit %d, %s", r.code, r.errors)
	}
	_, user = begin()
	user.ok("bucket", "check", "mine")
	user.ok("tasks", "get", "-n", "jobs", "first")
	if d := document[rolesDoc](t, user.ok("roles", "-o", "json").out); len(d.Roles) != 1 || d.Roles[0].Role != "scheduler" {
		t.Errorf("after a restart: %+v", d)
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
	d := document[benchDoc](t, p.ok("bench", "--rounds", "2", "--ttl", "20s", "--only", "heartbeat,handover,task", "-o", "json").out)
	natstest.Eventually(t, "a fail-over is measured", patience, func() (bool, string) { // a TTL so short may be too short for a busy machine
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
	interrupted := p.start("bench", "--rounds", "1000", "--only", "failover")
	interrupted.says(&interrupted.errs, "fail-overs")
	interrupted.signal(syscall.SIGINT)
	if r := interrupted.wait(); r.code != exitFailed || !strings.HasSuffix(r.errors, "rolectl: interrupted\n") {
		t.Errorf("interrupted: exit %d, %q", r.code, r.errors)
	}
	if n := streams(); n != 0 {
		t.Errorf("%d streams are left behind", n)
	}
}

// TestBenchLosesServer: it ends when the server is gone, whatever it waits for, and says what remains there.
func TestBenchLosesServer(t *testing.T) {
	t.Parallel()
	p := at(t)
	var all []*process
	for _, m := range measures { // no lease runs out before the test does
		b := p.start("bench", "--rounds", "100000", "--ttl", "2m", "--only", m.name, "--timeout", "10s")
		b.says(&b.errs, m.what+" ...")
		all = append(all, b)
	}
	p.server.Stop()
	for _, b := range all {
		r := b.wait()
		if r.code != exitConnection || !strings.Contains(r.errors, "rolectl: the connection was lost") ||
			!strings.Contains(r.errors, "nats stream rm -f KV_rolectl-bench-") || strings.Count(r.errors, "\n") != 2 {
			t.Errorf("%s: exit %d, %q", b.name, r.code, r.errors)
		}
	}
}
