package live_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// finding begins each line in which a child says what it has seen: its events, and where it stands
// when it is asked. A failure tells them.
const finding = "finding-"

// manyFindings is how many of those are kept of all children together.
const manyFindings = 400

// tellEvent writes an event down. A heartbeat that was stored says nothing.
func tellEvent(e event.Event) {
	if beat, is := e.(event.Heartbeat); is && beat.Outcome == event.OutcomeWon {
		return
	}
	tellFinding(event.Name(e), fmt.Sprintf("%+v", e))
}

func tellFinding(what, text string) {
	fmt.Println(finding+what, time.Now().Format("15:04:05.000"), strings.ReplaceAll(text, "\n", " / "))
}

// tellStatus writes down where a session stands whenever this process gets a signal for that.
func tellStatus(s *election.Session) (stop func()) {
	asked, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		defer close(done)
		for range asked {
			at, took := s.LastHeartbeat()
			tellFinding("status", fmt.Sprintf("connected %t, ended with %v; last heartbeat at %v took %v; %+v; members %+v",
				s.Connected(), s.Err(), at.Format("15:04:05.000"), took, s.Roles(), s.Members()))
		}
	}()
	return func() {
		signal.Stop(asked)
		close(asked)
		<-done
	}
}

// finds keeps a finding. The caller holds the lock.
func (ps *processes) finds(text string) {
	if ps.found = append(ps.found, text); len(ps.found) > manyFindings {
		ps.found = slices.Delete(ps.found, 0, manyFindings/4)
	}
}

// statuses is how often children have said where they stand.
func (ps *processes) statuses() (n int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, text := range ps.found {
		if strings.Contains(text, finding+"status") {
			n++
		}
	}
	return n
}

// explain tells of a test that fails what all children have seen and where they stand, what the
// system tells about them, and what the bucket holds. It comes before the clean-up.
func (ps *processes) explain(running map[string]*exec.Cmd) {
	t := ps.t
	if !t.Failed() {
		return
	}
	before, asked := ps.statuses(), 0
	for name, cmd := range running {
		state := stateOf(cmd.Process.Pid)
		t.Logf("process %s, %d: %s", name, cmd.Process.Pid, state)
		if cmd.ProcessState == nil && !strings.HasPrefix(state, "T") && cmd.Process.Signal(syscall.SIGUSR1) == nil {
			asked++
		}
	}
	for end := time.Now().Add(10 * time.Second); ps.statuses() < before+asked && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d of %d say where they stand", ps.statuses()-before, asked)
	ps.mu.Lock()
	t.Logf("seen:\n%s", strings.Join(ps.found, "\n"))
	ps.mu.Unlock()
	t.Logf("in the bucket, at %v:\n%s", time.Now().Format("15:04:05.000"), recordsOf(ps.url))
}

// stateOf is what the system tells about a process, where it has /proc: R, S, T for stopped, Z, and
// what it waits for.
func stateOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(text)) {
		if state, ok := strings.CutPrefix(line, "State:"); ok {
			return strings.TrimSpace(state)
		}
	}
	return "no state"
}

// recordsOf are all records of the roles' bucket, with those that tell of an end.
func recordsOf(url string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	nc, err := nats.Connect(url)
	if err != nil {
		return err.Error()
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err.Error()
	}
	kv, err := js.KeyValue(ctx, "roles")
	if err != nil {
		return err.Error()
	}
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = w.Stop() }()
	var all []jetstream.KeyValueEntry
	for e := range w.Updates() {
		if e == nil {
			break
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b jetstream.KeyValueEntry) int { return cmp.Compare(a.Revision(), b.Revision()) })
	var out strings.Builder
	for _, e := range all {
		fmt.Fprintln(&out, e.Revision(), e.Created().Format("15:04:05.000"), e.Key(), e.Operation(), string(e.Value()))
	}
	return out.String()
}

// TestAProcessSaysWhereItStands: what a failure of TestProcessKill tells.
func TestAProcessSaysWhereItStands(t *testing.T) {
	server := natstest.Server(t, natstest.Listen)
	bucketFor(t, server)
	ps := &processes{t: t, url: server.URL()}
	a := ps.start("a")
	ps.leads(0, "a")
	signalTo(t, a, syscall.SIGUSR1)
	natstest.Eventually(t, "a says where it stands", patience, func() (bool, string) {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		said := strings.Join(ps.found, "\n")
		for _, part := range []string{"a " + finding + "RolePromoted", "a " + finding + "status", "Leader:a"} {
			if !strings.Contains(said, part) {
				return false, said
			}
		}
		return true, said
	})
	if state := stateOf(a.Process.Pid); !strings.HasPrefix(state, "S") && !strings.HasPrefix(state, "R") {
		t.Log(state) // there may be no /proc
	}
	if held := recordsOf(server.URL()); !strings.Contains(held, " c.role."+role+" ") {
		t.Error(held)
	}
}
