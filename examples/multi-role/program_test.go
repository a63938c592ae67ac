package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// program is the command, built once for all tests.
var program string

// Exit statuses of the program.
const (
	exitOK          = 0
	exitFaulty      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// report is what the program prints with -json, as far as the tests read it.
type report struct {
	Instances int
	Roles     []struct{ Name, Leader string }
	Tasks     struct{ Submitted, Succeeded, Failed, Wrong, Lost, Unfinished, Reruns, Cancelled int }
	Ticks     struct{ Fired, Missing int }
	Adopted   int
	Overlaps  *int
	Faults    []string
	Failovers []failover
	Killed    *struct {
		Worker  string
		Ran     int
		RerunBy map[string]int `json:"rerun_by"`
		GuardMS float64        `json:"guard_ms"`
		GapMS   float64        `json:"gap_ms"`
	}
}

type failover struct {
	Role, Kind, From, To string
	GapMS                float64 `json:"gap_ms"`
}

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "multi-role-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "multi-role")
		// The go command keeps what it runs: a program that has not changed is not linked again.
		if out, err := exec.Command("go", "run", "-exec", "cp", ".", program).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		code := m.Run()
		if code == 0 {
			if err := goleak.Find(); err != nil {
				fmt.Fprintln(os.Stderr, "goroutines are left after the tests:", err)
				return 1
			}
		}
		return code
	}())
}

// start runs the program in a directory for temporary files of its own, which must be empty when it
// has ended.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), program, args...)
	temp := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(temp); err == nil && len(left) > 0 && !t.Failed() {
			t.Errorf("it left %s behind", left[0].Name())
		}
	})
	return cmd, stdout, stderr
}

// status waits for the end of the program.
func status(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// tree makes n files of size bytes.
func tree(t *testing.T, n, size int) string {
	t.Helper()
	root := t.TempDir()
	for i := range n {
		content := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2)
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("file %03d", i)), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestProgram runs the whole of it: a killed worker, a crash and a graceful stop under running
// tasks.
func TestProgram(t *testing.T) {
	t.Parallel()
	const files = 120
	cmd, stdout, stderr := start(t, "-dir", tree(t, files, 1000), "-rate", "2000", "-ttl", "1s", "-json", "-id", "it")
	code := status(t, cmd)
	var r report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || code != 0 {
		t.Fatalf("exit status %d, %v\n%s\n%s", code, err, stdout, stderr)
	}
	if n := r.Tasks; r.Instances != 3 || n.Submitted != files || n.Succeeded != files || n.Lost != 0 || n.Wrong != 0 {
		t.Errorf("tasks: %+v of %d instances", n, r.Instances)
	}
	if r.Overlaps == nil || *r.Overlaps != 0 {
		t.Errorf("overlaps: %v", r.Overlaps)
	}
	guarded := runtime.GOOS == "linux"
	if k := r.Killed; k == nil || k.Worker != "it-worker" || k.Ran == 0 || k.GapMS <= 0 || k.GuardMS <= 0 == guarded {
		t.Errorf("killed: %+v", k)
	} else {
		again := 0
		for by, n := range k.RerunBy {
			if again += n; by == k.Worker || !strings.HasPrefix(by, "it-") {
				t.Errorf("run again by %s", by)
			}
		}
		if again == 0 || again > k.Ran {
			t.Errorf("of %d tasks of the killed worker %d were run again", k.Ran, again)
		}
		if r.Tasks.Reruns < again-1 { // a twin is not one of the tasks
			t.Errorf("%d reruns, and %d of the killed worker alone", r.Tasks.Reruns, again)
		}
	}
	if r.Adopted == 0 {
		t.Error("no scheduler has adopted what ran")
	}
	if r.Ticks.Fired == 0 || r.Tasks.Cancelled == 0 {
		t.Errorf("ticks: %+v; %d cancelled", r.Ticks, r.Tasks.Cancelled)
	}
	kinds := map[string]int{}
	for _, f := range r.Failovers {
		kinds[f.Kind]++
		if f.GapMS < 0 || f.From == f.To || !strings.HasPrefix(f.From, "it-") || !strings.HasPrefix(f.To, "it-") {
			t.Errorf("fail-over: %+v", f)
		}
	}
	if kinds["crash"] == 0 || kinds["graceful"] == 0 {
		t.Errorf("fail-overs: %+v", r.Failovers)
	}
	for _, role := range r.Roles {
		harmed := func(f failover) bool { return f.From == role.Leader }
		if role.Leader == "" || slices.ContainsFunc(r.Failovers, harmed) {
			t.Errorf("%s is led by %q in the end, want the one that is left", role.Name, role.Leader)
		}
	}
	if len(r.Roles) != 3 {
		t.Errorf("roles: %+v", r.Roles)
	}
	t.Logf("%s", stderr)
}

// TestProgramFileThatGoes reports a file that is gone as what it is: a failed task, neither lost
// nor wrong.
func TestProgramFileThatGoes(t *testing.T) {
	t.Parallel()
	const files = 40
	var r report
	for tries := 1; ; tries++ {
		root := tree(t, files, 1000)
		p := follow(t, "-dir", root, "-rate", "10000", "-ttl", "1s", "-json", "-instances", "1")
		p.until(t, "files in")
		if err := os.Remove(filepath.Join(root, fmt.Sprintf("file %03d", files-1))); err != nil {
			t.Fatal(err)
		}
		code := p.end(t)
		r = report{}
		if err := json.Unmarshal(p.stdout.Bytes(), &r); err != nil || code != exitOK {
			t.Fatalf("exit status %d, %v\n%s\n%s", code, err, &p.stdout, &p.said)
		}
		if r.Tasks.Succeeded < files || tries == 10 {
			break
		}
		t.Log("the file was hashed before it went: once more")
	}
	if r.Tasks.Succeeded != files-1 || r.Tasks.Failed != 1 || r.Tasks.Lost != 0 || len(r.Failovers) != 0 {
		t.Errorf("tasks: %+v, fail-overs %+v", r.Tasks, r.Failovers)
	}
	if len(r.Faults) != 1 || !strings.Contains(r.Faults[0], "no such file") {
		t.Errorf("reported as %q", r.Faults)
	}
}

func TestProgramUsage(t *testing.T) {
	t.Parallel()
	cmd, _, stderr := start(t, "worker") // with nothing on its standard input
	if code := status(t, cmd); code != exitFaulty || !strings.Contains(stderr.String(), "started by multi-role") {
		t.Errorf("a worker by hand: exit status %d, %q", code, stderr)
	}
	for _, args := range []string{
		"-instances 0", "-no-such-flag", "-replicas 3", "-ttl 1ms", "surplus", "-dir /no/such/dir",
	} {
		cmd, stdout, stderr := start(t, strings.Fields(args)...)
		if code := status(t, cmd); code != exitUsage || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit status %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
	cmd, _, stderr = start(t, "-dir", t.TempDir())
	if code := status(t, cmd); code != exitUsage || !strings.Contains(stderr.String(), "no regular file") {
		t.Errorf("empty tree: exit status %d, %q", code, stderr)
	}
	cmd, _, stderr = start(t, "-nats", "nats://127.0.0.1:1", "-dir", ".")
	if code := status(t, cmd); code != exitFaulty || !strings.Contains(stderr.String(), "connect to NATS") {
		t.Errorf("no server: exit status %d, %q", code, stderr)
	}
	cmd, stdout, _ := start(t, "-help")
	if code := status(t, cmd); code != 0 || !strings.Contains(stdout.String(), "-instances") {
		t.Errorf("help: exit status %d, %q", code, stdout)
	}
}

// TestProgramServes keeps the roles, serves what it should, and ends cleanly when interrupted.
func TestProgramServes(t *testing.T) {
	t.Parallel()
	p := follow(t, "-dir", tree(t, 3, 10), "-rate", "1e6", "-ttl", "500ms", "-once=false", "-json",
		"-http", "127.0.0.1:0", "-instances", "2")
	url := p.until(t, `serving (http://\S+)/status`)
	p.until(t, "kept until interrupted")
	for path, want := range map[string]string{
		"/livez": "alive", "/readyz": "ready", "/leaderz?role=scheduler": "", "/status": `"roles"`,
		"/": `id="r:scheduler"`, "/now.json": `"led": 3`, "/tasks": "hands out tasks",
	} {
		if body := get(t, url+path); !strings.Contains(body, want) {
			t.Errorf("%s answers %q", path, body)
		}
	}
	if body := eventually(t, url+"/metrics", "election_is_leader"); !strings.Contains(body, `role="scheduler"`) {
		t.Errorf("/metrics answers %q", body)
	}
	p.interrupt(t)
	if code := p.end(t); code != exitOK {
		t.Errorf("exit status %d:\n%s", code, &p.said)
	}
	if !json.Valid(p.stdout.Bytes()) {
		t.Errorf("stdout is not one JSON document:\n%s", &p.stdout)
	}
}

// TestProgramInterrupted ends before the tasks are done, and says so.
func TestProgramInterrupted(t *testing.T) {
	t.Parallel()
	p := follow(t, "-dir", tree(t, 3, 1_000_000), "-rate", "1", "-ttl", "500ms", "-json")
	p.until(t, "every role has a leader")
	p.interrupt(t)
	code := p.end(t)
	var r report
	err := json.Unmarshal(p.stdout.Bytes(), &r)
	if err != nil || code != exitInterrupted || r.Tasks.Lost != 0 || r.Tasks.Unfinished != 3 {
		t.Errorf("exit status %d, %v, tasks %+v:\n%s", code, err, r.Tasks, &p.said)
	}
}

// followed is a program whose progress is read while it runs.
type followed struct {
	*exec.Cmd
	progress io.Reader
	said     bytes.Buffer
	stdout   bytes.Buffer
}

// follow starts the program with its progress on stderr.
func follow(t *testing.T, args ...string) *followed {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no signals to interrupt with")
	}
	p := &followed{Cmd: exec.CommandContext(t.Context(), program, args...)}
	p.Stdout = &p.stdout
	var err error
	if p.progress, err = p.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// until reads the progress until it says something, and returns the first group of that.
func (p *followed) until(t *testing.T, pattern string) string {
	t.Helper()
	buf, wanted := make([]byte, 4096), regexp.MustCompile(pattern+"()")
	for {
		if m := wanted.FindStringSubmatch(p.said.String()); m != nil {
			return m[1]
		}
		n, err := p.progress.Read(buf)
		p.said.Write(buf[:n])
		if err != nil {
			t.Fatalf("it ended (%v) without saying %s:\n%s", err, pattern, &p.said)
		}
	}
}

func (p *followed) interrupt(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// end reads the rest and returns the exit status.
func (p *followed) end(t *testing.T) int {
	t.Helper()
	_, _ = p.said.ReadFrom(p.progress)
	return status(t, p.Cmd)
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return string(body)
}

// eventually asks until the answer holds what is wanted.
func eventually(t *testing.T, url, want string) string {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		body := get(t, url)
		if strings.Contains(body, want) {
			return body
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s answers %q, and never %s", url, body, want)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
