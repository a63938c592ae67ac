package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// piped starts rolectl with a reader of its standard output.
func (p *place) piped(args ...string) (*process, *os.File) {
	p.t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	defer writer.Close() // it is the program's now
	p.t.Cleanup(func() { _ = reader.Close() })
	proc := &process{t: p.t, name: strings.Join(args, " "), cmd: exec.Command(binary, args...), done: make(chan struct{})}
	proc.cmd.Env, proc.cmd.Stdout, proc.cmd.Stderr = p.env, writer, &proc.errs
	proc.begin()
	return proc, reader
}

// TestReaderIsGone: a command that only looks ends silently when nobody reads any more, even if it
// has nothing to write.
func TestReaderIsGone(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	p.ok("tasks", "create", "jobs")
	first := func(f *os.File) {
		t.Helper()
		if line, err := bufio.NewReader(f).ReadString('\n'); err != nil {
			t.Errorf("%q, %v", line, err)
		}
	}
	var all []*process
	for _, test := range []struct {
		args   string
		writes bool // a line, at once
	}{
		{"watch", true},
		{"watch scheduler", true},
		{"watch -o name", true},
		{"watch -o table", true},
		{"inspect scheduler --for 1h", false},
		{"doctor --for 1h", false},
		{"bench --only failover --rounds 1000000", false},
		{"tasks submit -n jobs nobody 1 --id left --wait", false},
	} {
		proc, reader := p.piped(strings.Fields(test.args)...)
		if test.writes {
			first(reader)
		}
		_ = reader.Close()
		all = append(all, proc)
	}
	for _, proc := range all {
		r := proc.wait()
		if r.code != cli.ExitUnread || strings.Contains(r.errors, "rolectl:") {
			t.Errorf("%s: exit %d, %q", proc.name, r.code, r.errors)
		}
	}
	// The streams of the benchmark are removed, and the submitted task stays.
	m, err := p.connect().Request("$JS.API.STREAM.NAMES", nil, patience)
	if err != nil || strings.Contains(string(m.Data), "bench") {
		t.Errorf("%v, %s", err, m.Data)
	}
	// the submitter may be slower than this test
	natstest.Eventually(t, "the task is there", patience, func() (bool, string) {
		r := p.run("tasks", "get", "-n", "jobs", "left")
		return r.code == 0, r.errors
	})
}

// TestReaderIsGoneForOthers: a command that changes something continues without a reader.
func TestReaderIsGoneForOthers(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.ok("bucket", "create", "roles")
	file := t.TempDir() + "/ended"
	e, reader := p.piped("exec", "scheduler", "--", "sh", "-c", `echo on; while [ ! -e "`+file+`" ]; do sleep 0.05; done; exit 3`)
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil || line != "on\n" {
		t.Fatalf("%q, %v", line, err)
	}
	_ = reader.Close()
	dev, reader := (&place{t: t, env: clean(t)}).piped("dev", "--port", "0", "--store-dir", t.TempDir())
	url, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", url, err)
	}
	_ = reader.Close()
	user := &place{t: t, env: append(clean(t), "NATS_URL="+strings.TrimSpace(url))}
	for range 3 { // each takes longer than a look at the reader
		if out := user.ok("tasks", "submit", "-n", "jobs", "sleep", `"300ms"`, "--wait").out; out != `"300ms"` {
			t.Errorf("%q", out)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := e.wait(); r.code != 3 {
		t.Errorf("exec: exit %d, %q", r.code, r.errors)
	}
	select {
	case <-dev.done:
		t.Error("dev has ended")
	default:
	}
}

// TestUnreadResult: a result that nobody reads is not reported as an error, but a full device is.
func TestUnreadResult(t *testing.T) {
	t.Parallel()
	p := at(t)
	p.pair("scheduler")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	proc := &process{t: t, name: "roles", cmd: exec.Command(binary, "roles"), done: make(chan struct{})}
	proc.cmd.Env, proc.cmd.Stdout, proc.cmd.Stderr = p.env, writer, &proc.errs
	proc.begin()
	_ = writer.Close()
	if r := proc.wait(); r.code != cli.ExitUnread || r.errors != "" {
		t.Errorf("exit %d, %q", r.code, r.errors)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	proc = &process{t: t, name: "roles", cmd: exec.Command(binary, "roles"), done: make(chan struct{})}
	proc.cmd.Env, proc.cmd.Stdout, proc.cmd.Stderr = p.env, full, &proc.errs
	proc.begin()
	if r := proc.wait(); r.code != cli.ExitFailed || !strings.Contains(r.errors, "no space left") {
		t.Errorf("on a full device: exit %d, %q", r.code, r.errors)
	}
}
