package roles_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// TestSystemdNotify: the service manager hears when the session is open, what is led, signs of
// life, and that more time is needed. Without SystemdNotify it hears nothing.
func TestSystemdNotify(t *testing.T) {
	at := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	conn, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", at.Name)
	t.Setenv("WATCHDOG_USEC", "60000")
	t.Setenv("WATCHDOG_PID", "")
	heard := make(chan string, 10_000)
	go func() { // reads all the time, as a service manager does; ends with the socket
		defer close(heard)
		for b := make([]byte, 4096); ; {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			heard <- string(b[:n])
		}
	}()
	hears := func(text string) {
		t.Helper()
		for late := time.After(time.Minute); ; {
			select {
			case said := <-heard:
				if strings.Contains(said, "silent") {
					t.Errorf("one that was not told to speak: %q", said)
				} else if strings.Contains(said, text) {
					return
				}
			case <-late:
				t.Fatalf("%q was not heard", text)
			}
		}
	}
	s := natstest.Server(t)
	run := func(id, role string, notify bool, leads chan<- uint64) (stop func()) {
		cfg := config(s, id)
		cfg.SystemdNotify = notify
		m, err := roles.New(cfg, roles.Role{Name: role, Lead: func(ctx context.Context, term *election.Term) error {
			leads <- term.Epoch()
			<-ctx.Done()
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		return func() {
			t.Helper()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	leads := make(chan uint64, 1)
	defer run("a", "silent", false, leads)()
	<-leads
	end := run("b", "scheduler", true, leads)
	hears(fmt.Sprintf("READY=1\nSTATUS=leads scheduler@%d", <-leads))
	hears("WATCHDOG=1")
	end()
	hears("STOPPING=1\nEXTEND_TIMEOUT_USEC=")
}
