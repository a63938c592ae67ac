package examples

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// together is how many tests run beside each other: most of the time they wait for programs, and
// these for leases.
const together = 9

func TestMain(m *testing.M) {
	natstest.Together(together)
	os.Exit(m.Run())
}

// built is where the examples are kept from one run of the tests to the next, beside the sources
// that they are of. Git ignores it.
var built = filepath.Join("..", "bin", "examples") + string(filepath.Separator)

// programs builds the named examples. One that has not changed is not linked again.
func programs(t *testing.T, names ...string) (dir string) {
	t.Helper()
	if err := os.MkdirAll(built, 0o750); err != nil {
		t.Fatal(err)
	}
	build := []string{"build", "-buildvcs=false", "-ldflags=-w", "-o", built}
	for _, name := range names {
		build = append(build, "./"+name)
	}
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		t.Fatalf("build the examples: %v\n%s", err, out)
	}
	return built
}

// process is an example that runs, and all that it has written.
type process struct {
	cmd  *exec.Cmd
	name string

	mu      sync.Mutex
	written bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written.String()
}

// start starts a program against the server, which is nil for a program that brings its own. The
// end of the test kills it.
func start(t *testing.T, s *natsrun.Server, program string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), name: filepath.Base(program)}
	if s != nil {
		p.cmd.Env = append(os.Environ(), "NATS_URL="+s.URL())
	}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill() // it may have ended by itself
			_ = p.cmd.Wait()         // of a killed process: an error that says so
		}
	})
	return p
}

// says waits until the program has written what the pattern matches, and returns that.
func (p *process) says(t *testing.T, pattern string, within time.Duration) (match []string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	natstest.Eventually(t, p.name+" says "+pattern, within, func() (bool, string) {
		out := p.output()
		match = re.FindStringSubmatch(out)
		return match != nil, out
	})
	return match
}

// ends sends a signal, 0 for none, and waits for the end of the program.
func (p *process) ends(t *testing.T, signal syscall.Signal) error {
	t.Helper()
	if signal != 0 {
		if err := p.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	return p.cmd.Wait()
}

// endsWell is ends of a program that has to end without an error.
func (p *process) endsWell(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.ends(t, signal); err != nil {
		t.Errorf("%s: %v\n%s", p.name, err, p.output())
	}
}

// leader waits until one of two leads, and returns it first.
func leader(t *testing.T, a, b *process) (leads, follows *process) {
	t.Helper()
	natstest.Eventually(t, "one leads", 20*time.Second, func() (bool, string) {
		leads, follows = a, b
		if strings.Contains(b.output(), "leading") {
			leads, follows = b, a
		}
		return strings.Contains(leads.output(), "leading"), a.output() + b.output()
	})
	return leads, follows
}
