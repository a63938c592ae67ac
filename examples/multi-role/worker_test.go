package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWorkerEndsWithItsInput: whoever has started a worker may die in any way, and does not leave it behind.
func TestWorkerEndsWithItsInput(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t, natstest.Listen)
	cmd, _, stderr := prepare(t, workerArgument)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := workerConfig{URL: server.URL(), InstanceID: "w", Bucket: "b", Replicas: 1, TTL: time.Second}
	if err := json.NewEncoder(in).Encode(told); err != nil {
		t.Fatal(err)
	}

	nc, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		if kv, err := js.KeyValue(ctx, told.Bucket); err == nil {
			if _, err := kv.Get(ctx, "lease."+told.InstanceID); err == nil {
				break
			}
		}
		if err := pause(ctx); err != nil {
			t.Fatalf("it does not take part: %v, and says %q", err, stderr)
		}
	}
	_ = in.Close()
	if code := status(t, cmd); code != exitOK {
		t.Errorf("exit status %d, %q", code, stderr)
	}
}
