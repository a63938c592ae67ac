package live_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// The first two make this binary a process of that name that takes part on that server; with the
// third it writes into the ledgers of that directory while it leads.
const (
	childURL     = "ROLEMANAGER_CHILD_URL"
	childName    = "ROLEMANAGER_CHILD_NAME"
	childLedgers = "ROLEMANAGER_CHILD_LEDGERS"
)

// childTTL is that of its session.
const childTTL = time.Second

// child is what TestProcessKill starts: a process of its own that says when it leads and when its
// work has ended, and closes its session on SIGTERM.
func child(url, name string) error {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: name, TTL: childTTL, Sinks: []event.Sink{event.SinkFunc(tellEvent)},
	})
	if err != nil {
		return err
	}
	defer tellStatus(s)()
	e, err := s.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, t *election.Term) error {
		defer tellTrust(ctx, s, t)()
		fmt.Println("leads", t.Epoch())
		defer fmt.Println("stops", t.Epoch())
		if dir := os.Getenv(childLedgers); dir != "" {
			return writeLedgers(ctx, nc, dir, t)
		}
		<-ctx.Done()
		return nil
	}})
	if err != nil {
		return err
	}
	if err := s.Open(ctx, nc); err != nil {
		return err
	}
	if err := e.Start(context.Background()); err != nil {
		return err
	}
	<-ctx.Done()
	return s.Close(context.Background())
}

// patience is how long a test waits in real time for what takes a second or two.
const patience = 2 * time.Minute

// processes are children that run.
type processes struct {
	t     *testing.T
	url   string
	env   []string // more of it for each
	mu    sync.Mutex
	lines []string
	told  []string // of trust, by tellTrust
	found []string // what they have found, by tellEvent and tellStatus
}

// speaker takes what a child writes. Waiting for the child's end waits until all of it was taken.
type speaker struct {
	ps   *processes
	name string
	rest []byte // of a line whose end has not come yet
}

func (s *speaker) Write(p []byte) (int, error) {
	s.ps.mu.Lock()
	defer s.ps.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		text := s.name + " " + string(line)
		switch {
		case bytes.HasPrefix(line, []byte(trust)):
			s.ps.told = append(s.ps.told, text)
		case bytes.HasPrefix(line, []byte(finding)):
			s.ps.finds(text)
		default:
			s.ps.lines = append(s.ps.lines, text)
		}
		s.rest = rest
	}
}

func (ps *processes) start(name string) *exec.Cmd {
	ps.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childURL+"="+ps.url, childName+"="+name), ps.env...)
	cmd.Stdout, cmd.Stderr = &speaker{ps: ps, name: name}, os.Stderr
	if err := cmd.Start(); err != nil {
		ps.t.Fatal(err)
	}
	ps.t.Cleanup(func() { // it has ended, as a rule
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func (ps *processes) said() string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return strings.Join(ps.lines, "; ")
}

// childLine is one that a child has written: what happened to the term of that epoch.
type childLine struct {
	name, what string
	epoch      uint64
}

func (ps *processes) all(t *testing.T) (all []childLine) {
	t.Helper()
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, text := range ps.lines {
		var l childLine
		if _, err := fmt.Sscanf(text, "%s %s %d", &l.name, &l.what, &l.epoch); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, l)
	}
	return all
}

// await waits until something was said.
func (ps *processes) await(what string, is func(childLine) bool) (l childLine) {
	ps.t.Helper()
	natstest.Eventually(ps.t, what, patience, func() (bool, string) {
		all := ps.all(ps.t)
		i := slices.IndexFunc(all, is)
		if i >= 0 {
			l = all[i]
		}
		return i >= 0, ps.said()
	})
	return l
}

// leads waits for a term of one of them that began after that epoch. A machine that stalls for
// longer than a lease may bring terms in between that nobody waits for, which do no harm.
func (ps *processes) leads(after uint64, names ...string) childLine {
	ps.t.Helper()
	return ps.await(fmt.Sprintf("%v leads after epoch %d", names, after), func(l childLine) bool {
		return l.what == "leads" && l.epoch > after && slices.Contains(names, l.name)
	})
}

// TestProcessKill: the leader's process is terminated and gives the role away; it is stopped, and
// when it continues it finds that it does not lead any more; it is killed and gives nothing away. A
// process that has ended is started again under its name. No two believe at once that they lead.
func TestProcessKill(t *testing.T) {
	server := natstest.Server(t, natstest.Listen)
	bucketFor(t, server)
	ps := &processes{t: t, url: server.URL()}
	names := []string{"a", "b", "c"}
	running := map[string]*exec.Cmd{"a": ps.start("a")}
	defer ps.explain(running)
	leader := ps.leads(0, "a")
	running["b"], running["c"] = ps.start("b"), ps.start("c")
	natstest.Eventually(t, "b and c are members", patience, func() (bool, string) { return members(t, server.URL(), 3) })
	others := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
	}
	ended := func(name string) uint64 { return max(leader.epoch, ps.lastOf(t, name)) }
	n := cycles(t)
	for range n {
		name := leader.name
		signalTo(t, running[name], syscall.SIGTERM) // with release
		if err := running[name].Wait(); err != nil {
			t.Errorf("%s ended with %v", name, err)
		}
		leader = ps.leads(ended(name), others(name)...)
		running[name] = ps.start(name)

		name = leader.name
		signalTo(t, running[name], syscall.SIGSTOP)
		next := ps.leads(leader.epoch, others(name)...)
		signalTo(t, running[name], syscall.SIGCONT)
		ps.await(name+" stops", func(l childLine) bool { return l == childLine{name, "stops", leader.epoch} })
		leader = next

		name = leader.name
		signalTo(t, running[name], syscall.SIGKILL) // without release
		_ = running[name].Wait()                    // killed
		leader = ps.leads(ended(name), others(name)...)
		running[name] = ps.start(name)
	}
	signalTo(t, running[leader.name], syscall.SIGTERM) // the others may not have come to where they take it
	if err := running[leader.name].Wait(); err != nil {
		t.Errorf("%s ended with %v", leader.name, err)
	}
	violations := ps.exclusive(1 + 3*n)
	terms := ps.increasing(t, 1+3*n)
	played(t, n, "a leader's process terminated, one stopped until another one leads, and one killed",
		counts{
			{n, "leaders terminated"},
			{n, "leaders stopped"},
			{n, "leaders killed"},
			{terms, "terms"},
			{violations, "violations"},
		})
}

// lastOf is the epoch of the last term that a process told of.
func (ps *processes) lastOf(t *testing.T, name string) (epoch uint64) {
	t.Helper()
	for _, l := range ps.all(t) {
		if l.name == name && l.what == "leads" {
			epoch = l.epoch
		}
	}
	return epoch
}

// bucketFor makes the bucket of the children.
func bucketFor(t *testing.T, server natstest.Network) {
	t.Helper()
	if _, err := natskv.Create(t.Context(), natstest.Connect(t, server), natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
}

func signalTo(t *testing.T, cmd *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// members reports whether so many members have joined.
func members(t *testing.T, url string, n int) (bool, string) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		return false, err.Error()
	}
	defer nc.Close()
	o, err := election.Observe(t.Context(), nc, "roles")
	if err != nil {
		return false, err.Error()
	}
	defer o.Close()
	info, _ := o.Role(role)
	return len(info.Candidates) == n, fmt.Sprintf("%+v", info)
}

// increasing checks that each epoch has one term, and that those of each process increase. Lines of
// several processes come in any order, so their epochs are not compared; the test has waited for
// larger epochs of another process along its way. It says how many terms there were.
func (ps *processes) increasing(t *testing.T, atLeast int) (terms int) {
	t.Helper()
	holders, last := map[uint64]string{}, map[string]uint64{}
	for _, l := range ps.all(t) {
		if l.what != "leads" {
			continue
		}
		if holder, taken := holders[l.epoch]; taken || l.epoch <= last[l.name] {
			t.Errorf("epoch %d of %s, which %q had, or after its own %d: %s", l.epoch, l.name, holder, last[l.name], ps.said())
		}
		holders[l.epoch], last[l.name] = l.name, l.epoch
	}
	if len(holders) < atLeast {
		t.Errorf("%d terms, want %d at least: %s", len(holders), atLeast, ps.said())
	}
	return len(holders)
}
