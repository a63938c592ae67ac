package propertytests_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// The two make this binary a process of that name that takes part on that server.
const (
	childURL  = "ROLEMANAGER_CHILD_URL"
	childName = "ROLEMANAGER_CHILD_NAME"
)

// child is what TestProcessKill starts: a process of its own that says when it leads and when its work has ended, and closes
// its session on SIGTERM.
func child(url, name string) error {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: name, TTL: time.Second})
	if err != nil {
		return err
	}
	e, err := s.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, t *election.Term) error {
		fmt.Println("leads", t.Epoch())
		<-ctx.Done()
		fmt.Println("stops", t.Epoch())
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

// processes are children that run.
type processes struct {
	t     *testing.T
	url   string
	wg    sync.WaitGroup
	mu    sync.Mutex
	lines []string
}

func (ps *processes) start(name string) *exec.Cmd {
	ps.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+ps.url, childName+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		ps.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		ps.t.Fatal(err)
	}
	ps.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, as a rule
	ps.wg.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			ps.mu.Lock()
			ps.lines = append(ps.lines, name+" "+s.Text())
			ps.mu.Unlock()
		}
	})
	return cmd
}

func (ps *processes) said() string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return strings.Join(ps.lines, "; ")
}

func (ps *processes) await(what string) {
	ps.t.Helper()
	natstest.Eventually(ps.t, what, 30*time.Second, func() (bool, string) {
		said := ps.said()
		return strings.Contains(said, what), said
	})
}

// TestProcessKill: the leader's process is terminated and gives the role away; it is killed and gives nothing away; it is
// stopped, and when it goes on it finds that it does not lead any more.
func TestProcessKill(t *testing.T) {
	server := natstest.Server(t, natstest.Listen)
	if _, err := natskv.Create(t.Context(), natstest.Connect(t, server), natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	ps := &processes{t: t, url: server.URL()}
	a := ps.start("a")
	ps.await("a leads")
	b := ps.start("b")
	ps.await("a leads")
	c := ps.start("c")
	natstest.Eventually(t, "b and c are members", 30*time.Second, func() (bool, string) { return members(t, server.URL(), 3) })

	signalTo(t, a, syscall.SIGTERM) // with release
	if err := a.Wait(); err != nil {
		t.Errorf("a ended with %v", err)
	}
	natstest.Eventually(t, "another leads", 30*time.Second, func() (bool, string) {
		said := ps.said()
		return strings.Contains(said, "b leads") || strings.Contains(said, "c leads"), said
	})
	leader, follower, name, other := b, c, "b", "c"
	if strings.Contains(ps.said(), "c leads") {
		leader, follower, name, other = c, b, "c", "b"
	}

	signalTo(t, leader, syscall.SIGSTOP)
	ps.await(other + " leads")
	signalTo(t, leader, syscall.SIGCONT)
	ps.await(name + " stops")

	signalTo(t, follower, syscall.SIGKILL) // without release: it leads now
	natstest.Eventually(t, "the one that was stopped leads again", 30*time.Second, func() (bool, string) {
		said := ps.said()
		return strings.Count(said, name+" leads") == 2, said
	})
	_ = follower.Wait() // killed
	signalTo(t, leader, syscall.SIGTERM)
	if err := leader.Wait(); err != nil {
		t.Errorf("%s ended with %v", name, err)
	}
	ps.wg.Wait()
	increasing(t, ps.said())
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

// increasing checks that epochs increase in the order in which terms were told of.
func increasing(t *testing.T, said string) {
	t.Helper()
	last, terms := uint64(0), 0
	for _, line := range strings.Split(said, "; ") {
		var name string
		var epoch uint64
		if _, err := fmt.Sscanf(line, "%s leads %d", &name, &epoch); err != nil {
			continue
		}
		if terms++; epoch <= last {
			t.Errorf("epochs do not increase: %s", said)
		}
		last = epoch
	}
	if terms != 4 {
		t.Errorf("%d terms, want 4: %s", terms, said)
	}
}
