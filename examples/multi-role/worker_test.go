package main

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
)

// TestWorkerEndsWithItsParent: the process that started a worker may be killed. The worker then
// ends and closes its session, though it runs tasks, and writes to a pipe that nobody reads.
func TestWorkerEndsWithItsParent(t *testing.T) {
	t.Parallel()
	nc := serveNATS(t)
	parent := follow(t, "-json", "-nats", nc.ConnectedUrl(), "-id", "p", "-instances", "1", "-bucket", "b",
		"-ttl", "5s", "-dir", tree(t, 8, 100_000), "-rate", "1000")
	parent.until(t, "every role has a leader")
	client, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	await(t, "the worker runs tasks", func() (bool, string) {
		page, err := assign.List(t.Context(), client, assign.ListOptions{States: []assign.State{assign.StateRunning}})
		if err != nil {
			return false, err.Error()
		}
		var by []string
		for _, task := range page.Tasks {
			by = append(by, task.Worker)
		}
		seen := strings.Join(by, " ")
		return strings.Contains(seen, "p-worker"), seen
	})

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.end(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.Stream(t.Context(), "KV_b")
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the worker closes its session", func() (bool, string) { // by a marker, which the KV API does not show
		lease, err := kv.GetLastMsgForSubject(t.Context(), "$KV.b.c.lease.p-worker")
		if err != nil {
			return false, err.Error()
		}
		return strings.Contains(string(lease.Data), `"closed"`), string(lease.Data)
	})
}

// serveNATS starts a NATS server for a test.
func serveNATS(t *testing.T) *nats.Conn {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server did not come up")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// await waits until ok is true, and fails with what was seen last.
func await(t *testing.T, what string, ok func() (bool, string)) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		holds, seen := ok()
		if holds {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute; seen last: %s", what, seen)
		}
	}
}
