package live_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/guard"
	"github.com/rolemanager/rolemanager/internal/guardlink"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// forks makes this binary a process that connects to a guard, starts the process that speaks, and
// ends.
const forks = "ROLEMANAGER_FORKS"

// said is what a guard has logged.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// socketGuard is a guard that listens, and one who waits for the roles of those that it guards.
type socketGuard struct {
	t      *testing.T
	url    string
	nc     *nats.Conn
	bucket *natskv.Bucket
	path   string
	stop   func()
	log    said
	told   chan guard.Result
	known  int // processes that the guard has seen to lead
}

func listenAsGuard(t *testing.T) *socketGuard {
	t.Helper()
	s := natstest.Server(t, natstest.Listen)
	g := &socketGuard{
		t: t, url: s.URL(), nc: natstest.Connect(t, s), path: filepath.Join(t.TempDir(), "guard"),
		told: make(chan guard.Result, 64), // more than the processes of a test
	}
	var err error
	if g.bucket, err = natskv.Create(t.Context(), g.nc, natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		cfg := guard.Config{Conn: g.nc, Logger: slog.New(slog.NewTextHandler(&g.log, nil))}
		if err := guard.Serve(ctx, cfg, g.path, func(r guard.Result) { g.told <- r }); err != nil {
			t.Error(err)
		}
	}()
	g.stop = func() {
		cancel()
		<-over
	}
	t.Cleanup(g.stop)
	natstest.Eventually(t, "it listens", patience, func() (bool, string) {
		is, err := os.Stat(g.path)
		return err == nil && is.Mode().Perm() == 0o600, fmt.Sprint(is, err)
	})
	return g
}

// start starts a process that leads a role, somewhere, and returns when it leads.
func (g *socketGuard) start(role, how, lock string, at *syscall.SysProcAttr, args ...string) *guardedRun {
	g.t.Helper()
	if len(args) == 0 {
		args = os.Args[:1]
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), guardedURL+"="+g.url, guardlink.SocketEnv+"="+g.path, guardedRole+"="+role,
		guardedEnd+"="+how, guardedLock+"="+lock)
	cmd.SysProcAttr = at
	in, err := cmd.StdinPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	out, says, err := os.Pipe() // it is read to its end, also when the process has ended
	if err != nil {
		g.t.Fatal(err)
	}
	cmd.Stdout = says
	if how != "panic" && how != "out of memory" && how != "abort" {
		cmd.Stderr = os.Stderr
	}
	err = cmd.Start()
	says.Close()
	if err != nil {
		out.Close()
		g.t.Skip(err) // no right to do so
	}
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out.Close()
	})
	return &guardedRun{t: g.t, cmd: cmd, in: in, lines: bufio.NewScanner(out)}
}

// leads waits until a process leads, and the guard knows it. Of one that ends before that, it would
// see nothing.
func (g *socketGuard) leads(p *guardedRun) {
	g.t.Helper()
	p.says("leads")
	g.known++
	natstest.Eventually(g.t, "the guard knows it", patience, func() (bool, string) {
		return strings.Count(g.log.all(), "guards a process") >= g.known, g.log.all()
	})
}

func (g *socketGuard) state(role string) record.Lease {
	return leaseOf(g.t, g.nc, g.bucket, role).Lease
}

// alive checks that nothing was written about a process.
func (g *socketGuard) alive(role, why string) {
	g.t.Helper()
	if l := g.state(role); !l.Alive() {
		g.t.Errorf("%s: %s, and its session was ended: %+v", role, why, l)
	}
}

// ends waits until a session is ended by the guard.
func (g *socketGuard) ends(role string) {
	g.t.Helper()
	select {
	case r := <-g.told:
		if len(r.Killed) != 1 || r.Killed[0].Instance != "guarded-"+role || len(r.Left) > 0 {
			g.t.Errorf("%s: %+v", role, r)
		}
	case <-time.After(patience):
		g.t.Fatalf("%s: nothing has become of its session: %+v\n%s", role, g.state(role), g.log.all())
	}
	if l := g.state(role); l.State != record.Killed || l.By != ending.By {
		g.t.Errorf("%s: %+v", role, l)
	}
}

// apart is a cgroup of its own for a process.
func apart(t *testing.T) (at *syscall.SysProcAttr, kill func()) {
	t.Helper()
	path, err := os.MkdirTemp(cgroups(), "guarded-")
	if err != nil {
		t.Skip("no right to make a cgroup: ", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		if err := os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0o600); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		dir.Close()
		kill()
		natstest.Eventually(t, "the cgroup is removed", patience, func() (bool, string) {
			err := os.Remove(path)
			return err == nil, fmt.Sprint(err)
		})
	})
	return &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}, kill
}

// cgroups is where the cgroups of version 2 are.
func cgroups() string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.procs"); err == nil {
		return "/sys/fs/cgroup"
	}
	return "/sys/fs/cgroup/unified"
}

// TestSocketGuard: however a process ends that has named a guard, its session is ended when nobody
// is left in its cgroup. The one who leads next gets its resource.
func TestSocketGuard(t *testing.T) {
	g := listenAsGuard(t)
	standby, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: "standby", TTL: guardedTTL})
	if err != nil {
		t.Fatal(err)
	}
	if err := standby.Open(t.Context(), g.nc); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = standby.Close(context.Background()) }()
	for i, how := range guardedEnds {
		role, lock := fmt.Sprintf("role-%d", i), filepath.Join(t.TempDir(), "resource")
		at, kill := apart(t)
		p := g.start(role, how, lock, at)
		g.leads(p)
		led := make(chan error, 1)
		e, err := standby.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, _ *election.Term) error {
			f, err := lockFile(lock)
			if led <- err; err == nil {
				<-ctx.Done()
				f.Close()
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the standby is a candidate", patience, func() (bool, string) {
			info, _ := standby.Role(role)
			return len(info.Candidates) == 2, fmt.Sprintf("%+v", info)
		})
		fmt.Fprintln(p.in)
		switch how {
		case "closed", "main thread": // it lives on
			p.says(strings.Fields(how)[0])
			time.Sleep(20 * time.Millisecond) // time to do what is wrong
			g.alive(role, "it has not ended")
			fmt.Fprintln(p.in)
		case "grandchild":
			_, _ = p.cmd.Process.Wait()
			time.Sleep(100 * time.Millisecond)
			g.alive(role, "its grandchild holds the resource")
			kill()
		}
		g.ends(role)
		if err := <-led; err != nil {
			t.Errorf("%s: %v", how, err)
		}
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestSocketGuardInAContainer: a PID namespace is empty when its first process has ended.
func TestSocketGuardInAContainer(t *testing.T) {
	g := listenAsGuard(t)
	lock := filepath.Join(t.TempDir(), "resource")
	p := g.start("first", "kill", lock, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID})
	g.leads(p)
	_ = p.cmd.Process.Kill()
	g.ends("first")

	p = g.start("second", "kill", lock, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID},
		"sh", "-c", `"$0"; echo left; sleep 1000`, os.Args[0])
	g.leads(p)
	fmt.Fprintln(p.in)
	p.says("left")
	g.alive("second", "another process of its container runs on")
	_ = p.cmd.Process.Kill()
	g.ends("second")
}

// TestSocketGuardOfASender: the end of the process that has connected says nothing about the one
// that speaks.
func TestSocketGuardOfASender(t *testing.T) {
	g := listenAsGuard(t)
	at, kill := apart(t)
	t.Setenv(forks, "1")
	p := g.start("forked", "kill", filepath.Join(t.TempDir(), "resource"), at)
	if state, err := p.cmd.Process.Wait(); err != nil || !state.Success() {
		t.Fatal(state, err)
	}
	g.leads(p) // it has ended before
	g.alive("forked", "the one that speaks lives")
	kill()
	g.ends("forked")
}

// forkAndEnd connects to the guard, and gives the connection to another process.
func forkAndEnd() error {
	conn, err := dialGuard(os.Getenv(guardlink.SocketEnv))
	if err != nil {
		return err
	}
	for _, name := range []string{forks, guardlink.SocketEnv} {
		os.Unsetenv(name)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), guardlink.Env+"=3")
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{conn}
	return cmd.Start()
}

// TestSocketGuardWithoutEvidence writes nothing: the process is where the guard is.
func TestSocketGuardWithoutEvidence(t *testing.T) {
	g := listenAsGuard(t)
	p := g.start("beside", "kill", filepath.Join(t.TempDir(), "resource"), nil)
	p.says("leads")
	natstest.Eventually(t, "the guard says so", patience, func() (bool, string) {
		return strings.Contains(g.log.all(), "which are never empty"), g.log.all()
	})
	_ = p.cmd.Process.Kill()
	_, _ = p.cmd.Process.Wait()
	g.stop() // it writes nothing after this
	g.alive("beside", "it is not known that nothing of it runs on")
}
