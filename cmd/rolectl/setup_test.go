package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// place is a server, and rolectl as a user of it would run it.
type place struct {
	t      *testing.T
	server *natsrun.Server
	env    []string
	// columns is the width of the terminals, 0 for 100.
	columns uint16
}

// at starts a server that listens.
func at(t *testing.T, opts ...func(*natsrun.Options)) *place {
	t.Helper()
	s := natstest.Server(t, append([]func(*natsrun.Options){natstest.Listen}, opts...)...)
	return &place{t: t, server: s, env: slices.Clip(append(clean(t), "NATS_URL="+s.URL()))} // several add to it
}

// clean is an environment without anything that says where NATS is, with a home of its own and time
// for a busy machine.
func clean(t *testing.T) (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "NATS_") && !strings.HasPrefix(v, "ROLES_") && !strings.HasPrefix(v, "XDG_") &&
			!strings.HasPrefix(v, "NO_COLOR") {
			env = append(env, v)
		}
	}
	return slices.Clip(append(env, "HOME="+t.TempDir(), "TERM=xterm", "NATS_TIMEOUT=20s"))
}

// connect is a connection of this process, for as long as the test lasts. It waits as long as a
// busy machine needs.
func (p *place) connect(options ...nats.Option) *nats.Conn {
	p.t.Helper()
	return natstest.Connect(p.t, p.server, append([]nats.Option{nats.Timeout(patience)}, options...)...)
}

// result is what a run of rolectl has come to.
type result struct {
	code        int
	out, errors string
}

// ok is run, and ends the test unless the exit code is 0.
func (p *place) ok(args ...string) result {
	p.t.Helper()
	r := p.run(args...)
	if r.code != 0 {
		p.t.Fatalf("rolectl %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.errors)
	}
	return r
}

// process is a rolectl that runs.
type process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	out  lines
	errs lines
	done chan struct{}
}

func (p *place) start(args ...string) *process {
	p.t.Helper()
	proc := &process{t: p.t, name: strings.Join(args, " "), cmd: exec.Command(binary, args...), done: make(chan struct{})}
	proc.cmd.Env, proc.cmd.Stdout, proc.cmd.Stderr = p.env, &proc.out, &proc.errs
	proc.begin()
	return proc
}

func (p *process) begin() {
	p.t.Helper()
	p.cmd.WaitDelay = 5 * time.Second // what it has left behind may hold its output
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		_ = p.cmd.Process.Kill()
		<-p.done
	})
}

func (p *process) wait() result {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.done
		p.t.Fatalf("rolectl %s hangs:\n%s%s", p.name, p.out.String(), p.errs.String())
	}
	return result{p.cmd.ProcessState.ExitCode(), p.out.String(), p.errs.String()}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// says waits until the output has a text.
func (p *process) says(in *lines, text string) {
	p.t.Helper()
	natstest.Eventually(p.t, p.name+" says "+text, patience, func() (bool, string) {
		return strings.Contains(in.String(), text), p.out.String() + p.errs.String()
	})
}

// lines is output that can be read while it is being written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// member opens a session in this process, with a connection of its own. Its lease is long: nothing
// is lost because the machine is busy.
func (p *place) member(id string, edit ...func(*election.SessionConfig)) *election.Session {
	p.t.Helper()
	return p.memberOver(p.connect(), id, edit...)
}

// memberOver is member, over a connection of the test.
func (p *place) memberOver(nc *nats.Conn, id string, edit ...func(*election.SessionConfig)) *election.Session {
	p.t.Helper()
	cfg := election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: id, TTL: 20 * time.Second,
		CoolDown: time.Hour,
	}
	for _, e := range edit {
		e(&cfg)
	}
	s, err := election.NewSession(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := s.Open(p.t.Context(), nc); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// contend makes a session take part in a role with work that does nothing.
func contend(t *testing.T, s *election.Session, cfg election.RoleConfig) *election.Election {
	t.Helper()
	cfg.Lead = func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	}
	e, err := s.Campaign(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// leads waits until an election of this process knows that it leads: what a program has read in the
// bucket may come first.
func leads(t *testing.T, e *election.Election) {
	t.Helper()
	natstest.Eventually(t, "it leads", patience, func() (bool, string) { return e.IsLeader(), e.Status().State.String() })
}

// pair is two candidates for a role: a leads, b is next.
func (p *place) pair(role string, edit ...func(*election.SessionConfig)) (a, b *election.Election) {
	p.t.Helper()
	a = contend(p.t, p.member("a", edit...), election.RoleConfig{Role: role, Priority: 3})
	leads(p.t, a)
	b = contend(p.t, p.member("b", edit...), election.RoleConfig{Role: role})
	natstest.Eventually(p.t, "b is next", patience,
		func() (bool, string) { return a.Status().Successor == "b", a.Status().Successor })
	return a, b
}

// eachLine checks every complete line.
func eachLine[T any](t *testing.T, text string) (all []T) {
	t.Helper()
	for r := bytes.NewBufferString(text); ; {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return all
		}
		all = append(all, document[T](t, line))
	}
}
