//go:build linux

package main

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// message is one that a service manager has heard, and the process that has sent it.
type message struct {
	text string
	from int
}

// manager is the socket of a service manager, which reads all the time.
type manager struct {
	t     *testing.T
	path  string
	heard chan message
}

func newManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{t: t, path: filepath.Join(t.TempDir(), "notify"), heard: make(chan message, 10_000)}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 1) })
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close() // ends the reader
		for range m.heard {
		}
	})
	go m.read(conn)
	return m
}

func (m *manager) read(conn *net.UnixConn) {
	defer close(m.heard)
	for text, control := make([]byte, 4096), make([]byte, 256); ; {
		n, k, _, _, err := conn.ReadMsgUnix(text, control)
		if err != nil {
			return
		}
		said := message{text: string(text[:n])}
		parts, _ := unix.ParseSocketControlMessage(control[:k]) // without them nobody has sent it
		for _, part := range parts {
			if c, err := unix.ParseUnixCredentials(&part); err == nil {
				said.from = int(c.Pid)
			}
		}
		m.heard <- said
	}
}

// hears waits for a text, and returns who has sent it. Of those before it no other may have spoken.
func (m *manager) hears(text string) (from int) {
	m.t.Helper()
	for late := time.After(patience); ; {
		select {
		case said := <-m.heard:
			if from != 0 && said.from != from {
				m.t.Errorf("%q is said by %d, and by %d before", said.text, said.from, from)
			}
			if from = said.from; strings.Contains(said.text, text) {
				return from
			}
		case <-late:
			m.t.Fatalf("%q was not heard", text)
		}
	}
}

// TestExecTellsSystemd, and the command does not speak in its place.
func TestExecTellsSystemd(t *testing.T) {
	t.Parallel()
	p, m := at(t), newManager(t)
	p.ok("bucket", "create", "roles")
	mine := &place{t: t, server: p.server, env: append(p.env, "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=60000")}
	e := mine.start("exec", "scheduler", "--", "sh", "-c", `echo "told: $NOTIFY_SOCKET."; sleep 1000`)
	if from := m.hears("READY=1\nSTATUS=leads scheduler@"); from != e.cmd.Process.Pid {
		t.Errorf("%d speaks, and exec is %d", from, e.cmd.Process.Pid)
	}
	m.hears("WATCHDOG=1")
	e.says(&e.out, "told: .\n")
	e.signal(syscall.SIGTERM)
	m.hears("STOPPING=1\nEXTEND_TIMEOUT_USEC=")
	e.wait()
}

// TestGuardLeavesSystemdToTheProgram: the program is heard, and not the guard, which is the main
// process of the unit. So the unit needs NotifyAccess=all. The program takes WATCHDOG_USEC as its
// own, though the service manager has named the guard. When the signs of life stop, the manager
// sends ABRT to the guard, which passes it on: the program ends, and its roles are free.
func TestGuardLeavesSystemdToTheProgram(t *testing.T) {
	t.Parallel()
	p, m := at(t), newManager(t)
	p.ok("bucket", "create", "roles", "--max-ttl", "10m")
	mine := &place{t: t, server: p.server, env: append(p.env,
		"NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=60000", "WATCHDOG_PID=1")} // not the program's
	g := mine.start("guard", "--stop-timeout", "100ms", "--",
		binary, "exec", "scheduler", "--instance", "a", "--ttl", "10m", "--", "sleep", "1000")
	program := m.hears("READY=1\nSTATUS=leads scheduler@")
	if program == 0 || program == g.cmd.Process.Pid {
		t.Errorf("%d speaks, and the guard is %d", program, g.cmd.Process.Pid)
	}
	if from := m.hears("WATCHDOG=1"); from != program {
		t.Errorf("%d speaks, and the program is %d", from, program)
	}
	g.signal(syscall.SIGABRT)
	if r := g.wait(); r.code != 143 || // exec takes it as a request to stop: so sleep ended with TERM
		strings.Count(r.errors, "rolectl: ended the session of a in roles, ") != 1 {
		t.Errorf("exit %d, %s", r.code, r.errors)
	}
}
