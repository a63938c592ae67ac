package assign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestATakeOverBesideAWorkerOutOfReach: a scheduler takes over, and cannot ask a worker what it
// holds, or hear its answer, since an account imports only half of what it needs, or nothing. The
// worker says it in its member record. So tasks are handed out, to the others.
func TestATakeOverBesideAWorkerOutOfReach(t *testing.T) {
	for name, imports := range map[string][2]string{
		"it hears nothing":   {`{ service: "$TASKS.>" }`, `{ service: { account: A, subject: "$TASKS.>" } }`},
		"nobody hears it":    {`{ stream: "$TASKS.>" }`, `{ stream: { account: A, subject: "$TASKS.>" } }`},
		"neither reaches it": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			accounts := halfImported(t, imports[0], imports[1])
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) { takenOverBeside(t, s) },
				func(o *natsrun.Options) {
					o.Configure = func(so *server.Options) { so.Accounts, so.Users = accounts.Accounts, accounts.Users }
				})
		})
	}
}

// halfImported are accounts of which the second imports the messages of tasks as it is said.
func halfImported(t *testing.T, exports, imports string) *server.Options {
	t.Helper()
	text, err := os.ReadFile("testdata/half.conf")
	if err != nil {
		t.Fatal(err)
	}
	half := string(text)
	for from, to := range map[string]string{
		`{ service: "$TASKS.>" }`:                          exports,
		`{ service: { account: A, subject: "$TASKS.>" } }`: imports,
	} {
		if strings.Count(half, from) != 1 {
			t.Fatalf("half.conf has not one %s", from)
		}
		half = strings.Replace(half, from, to, 1)
	}
	file := filepath.Join(t.TempDir(), "accounts.conf")
	if err := os.WriteFile(file, []byte(half), 0o600); err != nil {
		t.Fatal(err)
	}
	accounts, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return accounts
}

func takenOverBeside(t *testing.T, s *natsrun.Server) {
	settled(t)
	home, abroad := accountsOf(s)
	b := newBench()
	close(b.gate)
	former := newNode(t, home, "a", b.register(t, "a"))
	leader(t, former)
	c := New(t, home)
	schedules(t, c)
	away := newNode(t, abroad, "b", b.register(t, "b"), follower, imports)
	keepBusy(t, away)
	overview(t, c, "it is a worker", func(o assign.Overview) bool { return len(o.Workers) == 2 })

	next := newNode(t, home, "c", b.register(t, "c"))
	former.close(t)
	leader(t, next)
	begin := time.Now()
	for _, p := range submitSlow(t, c, 40) {
		if _, err := p.Wait(within(t, time.Minute)); err != nil {
			t.Fatalf("%s: %v", p.ID(), err)
		}
	}
	if took := time.Since(begin); took > testTTL || b.by("b") > 0 {
		t.Errorf("%v, and %d started on the one that is out of reach", took, b.by("b"))
	}
	overview(t, c, "it is said to be unreachable", func(o assign.Overview) bool {
		for _, w := range o.Workers {
			if w.Instance == "b" {
				return w.Unreachable && w.Load == 0
			}
		}
		return false
	})
	time.Sleep(4 * testTTL)
	if n := next.count(func(e event.Event) bool {
		f, is := e.(event.Fault)
		return is && errors.Is(f.Err, assign.ErrUnreachable) && f.Doing == "reach worker b"
	}); n == 0 {
		t.Error("it is not named")
	}
	if n := away.count(func(e event.Event) bool { _, is := e.(event.SessionLost); return is }); n > 0 {
		t.Errorf("its session was ended %d times", n)
	}
}

// keepBusy has a node lead a role of its own until the end of the test: it is not at rest.
func keepBusy(t *testing.T, n *node) {
	t.Helper()
	other, err := n.session.Campaign(election.RoleConfig{Role: "other"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- other.Run(t.Context(), func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})
	}()
	t.Cleanup(func() { n.close(t); <-ended })
	natstest.Eventually(t, "it leads", time.Minute, func() (bool, string) { return other.IsLeader(), fmt.Sprint(n.name) })
}
