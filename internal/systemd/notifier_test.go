package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/event"
)

// manager is the socket of a service manager.
type manager struct {
	t    *testing.T
	conn *net.UnixConn
}

func listen(t *testing.T) manager {
	t.Helper()
	at := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	conn, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", at.Name)
	return manager{t, conn}
}

// hears waits for a message with a text.
func (m manager) hears(text string) string {
	m.t.Helper()
	for b := make([]byte, 4096); ; {
		n, err := m.conn.Read(b)
		if err != nil {
			m.t.Fatal(err)
		}
		if said := string(b[:n]); strings.Contains(said, text) {
			return said
		}
	}
}

func TestNobodyListens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	n := New(nil)
	n.Start(nil) // all of it does nothing
	n.Drain()
	n.Stop()
	if n != nil {
		t.Error(n)
	}
}

// TestAManagerThatIsStuck: it takes no more messages. That is told of once, and the notifier can be
// stopped. When the manager reads again it hears how things stand.
func TestAManagerThatIsStuck(t *testing.T) {
	m := listen(t)
	t.Setenv("WATCHDOG_USEC", "3000")
	failed := make(chan error, 100)
	n := New(func(err error) { failed <- err })
	n.within = 100 * time.Millisecond
	n.Start(func() {})
	if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	n.Observe(event.SessionOpened{})
	time.Sleep(2 * n.within) // so that it is tried
	if len(failed) > 0 {
		t.Errorf("told of %d times more", len(failed))
	}
	m.hears("READY=1")
	n.Drain()
	n.Stop()
}

func TestWhatSystemdHears(t *testing.T) {
	m := listen(t)
	t.Setenv("WATCHDOG_USEC", "30000")
	t.Setenv("WATCHDOG_PID", fmt.Sprint(os.Getpid()))
	n := New(func(err error) { t.Error(err) })
	n.every = 50 * time.Millisecond
	n.Start(func() {})
	n.Observe(event.SessionOpened{})
	m.hears("READY=1\nSTATUS=leads nothing")
	n.Observe(event.RolePromoted{Role: "b", Epoch: 7})
	n.Observe(event.RolePromoted{Role: "a", Epoch: 9})
	m.hears("STATUS=leads a@9, b@7")
	m.hears("WATCHDOG=1")
	n.Observe(event.RoleRotated{Role: "b", Epoch: 10})
	m.hears("STATUS=leads a@9, b@10")
	n.Observe(event.RoleDemoted{Role: "a"})
	m.hears("STATUS=leads b@10")
	n.Observe(event.SessionLost{Reason: "expired"})
	if said := m.hears("expired"); strings.Contains(said, "READY") {
		t.Error(said)
	}
	for i := range 20 {
		n.Observe(event.RolePromoted{Role: fmt.Sprintf("r%02d", i), Epoch: 1})
	}
	n.Observe(event.SessionOpened{})
	m.hears("r07@1, 12 more")
	n.Drain()
	m.hears("STOPPING=1\nEXTEND_TIMEOUT_USEC=10000000")
	m.hears("EXTEND_TIMEOUT_USEC=10000000") // and again
	n.Stop()
}

// TestASilentLoop gets no sign of life.
func TestASilentLoop(t *testing.T) {
	m := listen(t)
	t.Setenv("WATCHDOG_USEC", "3000")
	t.Setenv("WATCHDOG_PID", "")
	n := New(func(err error) { t.Error(err) })
	asked, answer := make(chan struct{}), make(chan struct{})
	n.Start(func() {
		asked <- struct{}{}
		<-answer
	})
	<-asked
	n.Observe(event.SessionOpened{})
	close(answer) // the sign of life comes first, which it had not sent
	go func() {
		for {
			select {
			case <-asked:
			case <-n.over:
				return
			}
		}
	}()
	b := make([]byte, 4096)
	if k, err := m.conn.Read(b); err != nil || string(b[:k]) != "WATCHDOG=1" {
		t.Errorf("%q, %v", b[:k], err)
	}
	m.hears("READY=1")
	n.Stop()
}

// TestADrainThatIsOverAtOnce is told of too.
func TestADrainThatIsOverAtOnce(t *testing.T) {
	m := listen(t)
	t.Setenv("WATCHDOG_USEC", "")
	for range 50 {
		n := New(func(err error) { t.Error(err) })
		n.Start(func() {})
		n.Drain()
		n.Stop()
		m.hears("STOPPING=1")
	}
}

func TestEnvironments(t *testing.T) {
	all := []string{"A=1", "NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=1", "WATCHDOG_PID=7", "WATCHDOG_PIDS=1"}
	if got := WithoutIt(all); len(got) != 2 || got[1] != "WATCHDOG_PIDS=1" {
		t.Errorf("%q", got)
	}
	if got := OnBehalf(all); len(got) != 4 || got[1] != all[1] {
		t.Errorf("%q", got)
	}
}
