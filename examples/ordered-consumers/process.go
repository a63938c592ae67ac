package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/roles"
)

// takePart is the whole of a process that consumes. It ends when its standard input does: its
// partitions go to the other processes, each after the message that is being handled.
func takePart(o options) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { // ends with the process at the latest
		defer stop()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	nc, err := nats.Connect(o.url)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	if err := ensureStream(ctx, js); err != nil {
		return err
	}
	m, err := roles.New(
		roles.Config{
			Conn: nc, Bucket: "roles", BucketAutoCreate: true, InstanceID: o.as, TTL: ttl,
			Sinks: []event.Sink{roles.SlogSink(nil)}, // no log: the report tells what happens
		},
		roles.Shards(group, partitions, consumer{js}.lead)...,
	)
	if err != nil {
		return err
	}
	go tell(ctx, m, o.as)
	return m.Run(ctx)
}

// tell says how many partitions this process leads.
func tell(ctx context.Context, m *roles.Manager, name string) {
	for last := -1; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if n := len(m.Status().Leading); n != last {
			say(leads, name, n)
			last = n
		}
	}
}
