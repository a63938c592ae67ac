package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// checkServer makes sure that the server answers before anything is created there: a mute server
// could not remove it again.
func (b *benchmark) checkServer(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(b.ctx, b.a.Target.Timeout)
	defer cancel()
	if _, err := natskv.Inspect(ctx, nc, b.name); err != nil && !errors.Is(err, natskv.ErrBucketNotFound) {
		return err
	}
	return nil
}

// make creates the bucket. An interrupt does not end this: a request without an answer could be
// carried out after the removal.
func (b *benchmark) make(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.Target.Timeout)
	defer cancel()
	cfg := natskv.Config{
		Bucket: b.name, Replicas: b.replicas, Storage: b.storage,
		MaxTTL: max(natskv.DefaultMaxTTL, b.ttl), MaxBytes: b.maxBytes,
	}
	_, err := natskv.Create(ctx, nc, cfg)
	return err
}

// makeTasks creates the stream of tasks, which an interrupt does not end either.
func (b *benchmark) makeTasks(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.Target.Timeout)
	defer cancel()
	return inventory.CreateTasks(ctx, nc, assign.ClientConfig{
		Namespace: b.name, StreamAutoCreate: true,
		Replicas: b.replicas, Storage: b.storage, MaxBytes: b.maxBytes,
	})
}

// remove deletes the bucket and the stream, if they exist: an interrupted run may have created one
// of them.
func (b *benchmark) remove(nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.Target.Timeout)
	defer cancel()
	for _, stream := range []string{"KV_" + b.name, "TASKS_" + b.name} {
		if err := js.DeleteStream(ctx, stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("remove the stream of the benchmark (nats stream rm %s): %w", stream, err)
		}
	}
	return nil
}
