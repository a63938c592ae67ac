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

// checkServer makes sure of a server that answers before anything is made there: what a mute one has made could not be removed.
func (b *benchmark) checkServer(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(b.ctx, b.a.Target.Timeout)
	defer cancel()
	if _, err := natskv.Inspect(ctx, nc, b.name); err != nil && !errors.Is(err, natskv.ErrBucketNotFound) {
		return err
	}
	return nil
}

// make makes the bucket that is measured with. An interrupt does not end that: what the server has not answered for could come
// to be after it was removed.
func (b *benchmark) make(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.Target.Timeout)
	defer cancel()
	cfg := natskv.Config{Bucket: b.name, Replicas: b.replicas, Storage: b.storage, MaxTTL: max(natskv.DefaultMaxTTL, b.ttl)}
	_, err := natskv.Create(ctx, nc, cfg)
	return err
}

// makeTasks makes the stream of tasks, likewise.
func (b *benchmark) makeTasks(nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.Target.Timeout)
	defer cancel()
	return inventory.CreateTasks(ctx, nc, assign.ClientConfig{Namespace: b.name, StreamAutoCreate: true, Replicas: b.replicas, Storage: b.storage})
}

// remove deletes what was made. Whether it was made is not asked: an interrupted run may have begun to.
func (b *benchmark) remove(nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), b.a.Target.Timeout)
	defer cancel()
	for _, stream := range []string{"KV_" + b.name, "TASKS_" + b.name} {
		if err := js.DeleteStream(ctx, stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("remove what was measured with (nats stream rm %s): %w", stream, err)
		}
	}
	return nil
}
