package main

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWorkerEndsWithItsParent: whoever has started a worker may be killed, and leaves neither it nor its lease behind,
// though it runs tasks, and writes to a pipe that nobody reads.
func TestWorkerEndsWithItsParent(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t, natstest.Listen)
	nc, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	parent := follow(t, "-json", "-nats", server.URL(), "-id", "p", "-instances", "1", "-bucket", "b", "-ttl", "5s",
		"-dir", tree(t, 8, 100_000), "-rate", "1000")
	parent.until(t, "every role has a leader")
	client, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	natstest.Eventually(t, "the worker runs tasks", time.Minute, func() (bool, string) {
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
	kv, err := js.KeyValue(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the worker closes its session", time.Minute, func() (bool, string) {
		lease, err := kv.Get(t.Context(), "lease.p-worker")
		if err != nil {
			return false, err.Error()
		}
		return strings.Contains(string(lease.Value()), `"closed"`), string(lease.Value())
	})
}
