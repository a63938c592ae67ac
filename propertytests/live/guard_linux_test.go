package live_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

var guardCycles = flag.Int("live.guard", 9, "how many processes under a guard end in some way")

// guardedEnds are the ways in which a process under a guard ends.
var guardedEnds = []string{
	"kill", "grandchild", "abort", "panic", "exit", "closed", "exec", "main thread", "out of memory",
}

// guardedRun is one process under a guard.
type guardedRun struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func runGuarded(t *testing.T, url, role, how, lock string) *guardedRun {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), guardURL+"="+url, guardedRole+"="+role, guardedEnd+"="+how, guardedLock+"="+lock)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if how != "panic" && how != "out of memory" && how != "abort" { // their stacks are nobody's concern
		cmd.Stderr = os.Stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // it has ended, as a rule
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &guardedRun{t: t, cmd: cmd, in: in, lines: bufio.NewScanner(out)}
}

// says waits for a line that begins with a word, and returns its other words.
func (g *guardedRun) says(word string) []string {
	g.t.Helper()
	for g.lines.Scan() {
		if f := strings.Fields(g.lines.Text()); len(f) > 0 && f[0] == word {
			return f[1:]
		}
	}
	g.t.Fatalf("it has ended, and never said %q", word)
	return nil
}

// leaseOf reads the lease of a guarded process.
func leaseOf(t *testing.T, nc *nats.Conn, b *natskv.Bucket, role string) record.Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	key := record.LeaseKey(record.Peer{Class: record.Candidate, Instance: "guarded-" + role})
	e, err := b.Get(ctx, nc, key)
	if err != nil {
		t.Fatal(err)
	}
	return record.Decode(key, e.Value, e.Revision, e.Marker, b.MaxTTL())
}

// TestGuardedProcessesEnd: however a process under a guard ends, the guard ends its session, and
// the next one leads long before the TTL. Nobody of the process holds its resource then.
func TestGuardedProcessesEnd(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	nc := natstest.Connect(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(*guardCycles)*time.Second)
	defer cancel()
	b, err := natskv.Create(ctx, nc, natskv.Config{Bucket: "roles"})
	if err != nil {
		t.Fatal(err)
	}
	standby, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: "standby", TTL: guardedTTL})
	if err != nil {
		t.Fatal(err)
	}
	if err := standby.Open(ctx, nc); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = standby.Close(context.Background()) }()
	took, written := map[string][]time.Duration{}, map[string][]time.Duration{}
	for i := range *guardCycles {
		how := guardedEnds[i%len(guardedEnds)]
		role := fmt.Sprintf("role-%d", i)
		lock := filepath.Join(t.TempDir(), "resource")
		g := runGuarded(t, s.URL(), role, how, lock)
		g.says("leads")
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
		if err := e.Start(ctx); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the standby is a candidate", patience, func() (bool, string) {
			info, _ := standby.Role(role)
			return len(info.Candidates) == 2, fmt.Sprintf("%+v", info)
		})
		began := time.Now()
		fmt.Fprintln(g.in)
		if how == "closed" || how == "main thread" { // it lives, without the line and the connection or its first thread
			g.says(strings.Fields(how)[0])
			if l := leaseOf(t, nc, b, role); !l.Lease.Alive() {
				t.Errorf("%s: its session was ended while it lived: %+v", how, l.Lease)
			}
			fmt.Fprintln(g.in)
		}
		select {
		case err := <-led:
			if took[how] = append(took[how], time.Since(began)); err != nil {
				t.Errorf("%s: %v", how, err)
			}
		case <-ctx.Done():
			t.Fatalf("%s: nobody leads: %+v", how, leaseOf(t, nc, b, role))
		}
		if l := leaseOf(t, nc, b, role).Lease; l.State != record.Killed || l.By != ending.By {
			t.Errorf("%s: %+v", how, l)
		}
		if f := g.says("killed"); f[0] != "guarded-"+role {
			t.Errorf("%s: killed %v", how, f)
		} else if d, err := time.ParseDuration(f[1] + "us"); err == nil {
			written[how] = append(written[how], d)
		}
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	}
	atOnce := []time.Duration{}
	for _, how := range []string{"kill", "abort", "panic", "exit", "out of memory"} {
		atOnce = append(atOnce, took[how]...)
	}
	if len(atOnce) > 0 {
		t.Logf("%d that end at once, together: %s", len(atOnce), percentiles(atOnce))
	}
	for how := range took {
		t.Logf("%s, %d times: from the word to end until the next one leads %s; from the end until its session is ended %s",
			how, len(took[how]), percentiles(took[how]), percentiles(written[how]))
	}
}

func percentiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100].Round(10 * time.Microsecond) }
	return fmt.Sprintf("p50 %v, p99 %v", at(50), at(99))
}

// TestGuardLeavesTheRest: a session that was closed is left alone, and when the guard is killed
// nothing is written: the process leads on.
func TestGuardLeavesTheRest(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	nc := natstest.Connect(t, s)
	b, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: "roles"})
	if err != nil {
		t.Fatal(err)
	}
	g := runGuarded(t, s.URL(), "closes", "kill", filepath.Join(t.TempDir(), "resource"))
	pid := g.says("leads")[1]
	signalProcess(t, pid, syscall.SIGTERM)
	if code := g.says("code"); code[0] != "0" {
		t.Errorf("it was to close its session: code %s", code)
	}
	if l := leaseOf(t, nc, b, "closes").Lease; l.State != record.Closed {
		t.Errorf("closed by itself: %+v", l)
	}

	for i := range max(1, *guardCycles/len(guardedEnds)) {
		role := fmt.Sprintf("outlives-%d", i)
		g = runGuarded(t, s.URL(), role, "kill", filepath.Join(t.TempDir(), "resource"))
		pid = g.says("leads")[1]
		if err := g.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = g.cmd.Wait()
		if l := leaseOf(t, nc, b, role).Lease; l.State != record.Live {
			t.Errorf("its guard was killed: %+v", l)
		}
		signalProcess(t, pid, syscall.SIGKILL)
		if l := leaseOf(t, nc, b, role).Lease; l.State != record.Live {
			t.Errorf("it has no guard: %+v", l)
		}
	}
}

func signalProcess(t *testing.T, pid string, s syscall.Signal) {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, s); err != nil {
		t.Fatal(err)
	}
}
