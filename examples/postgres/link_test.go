package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// link is the network between a process and the database of a test, on loopback. It can hold up
// what the process sends.
type link struct {
	url    string        // of the database, through the link
	direct string        // and past it
	gate   sync.RWMutex  // locked: nothing passes
	waits  chan struct{} // something is held up
}

// connect makes a database for the test, and a link to it.
func connect(t *testing.T) *link {
	t.Helper()
	if missing != nil && os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	if missing != nil {
		t.Skip(missing)
	}
	name := strings.ToLower(t.Name())
	if _, err := opened(t, home()).Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{
		url:    "postgres://test@" + listener.Addr().String() + "/" + name + "?sslmode=disable",
		direct: "postgres:///" + name + "?user=test&host=" + sockets,
		waits:  make(chan struct{}, 1),
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); all.Wait() }) // its error is that of Accept
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { l.carry(client) })
		}
	})
	return l
}

// carry ends when either side has ended.
func (l *link) carry(client net.Conn) {
	server, err := net.Dial("unix", filepath.Join(sockets, ".s.PGSQL.5432"))
	if err != nil {
		_ = client.Close() // which says so
		return
	}
	var answers sync.WaitGroup
	answers.Go(func() { _, _ = io.Copy(client, server); _ = client.Close() }) // until one of them is closed
	for packet, n := make([]byte, 64<<10), 0; ; _, err = server.Write(packet[:n]) {
		if err == nil {
			n, err = client.Read(packet)
		}
		if err != nil {
			break
		}
		if !l.gate.TryRLock() {
			l.waits <- struct{}{}
			l.gate.RLock()
		}
		l.gate.RUnlock()
	}
	_, _ = server.Close(), client.Close()
	answers.Wait()
}
