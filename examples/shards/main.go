// Command shards spreads the 64 shards of "orders" over all processes that run it. A key belongs to
// one shard, and a shard has one leader. The server refuses what a former leader of it sends.
//
//	nats-server -js                    # or: go run ./cmd/rolectl dev
//	go run ./examples/shards           # in four terminals; then kill one with kill -9
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/roles"
)

const shards = 64

type app struct{ js jetstream.JetStream }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	nc, err := nats.Connect(cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL))
	if err != nil {
		log.Fatalf("connect to NATS (start nats-server -js, or set NATS_URL): %v", err)
	}
	defer nc.Close()
	a := app{}
	if a.js, err = jetstream.New(nc); err != nil {
		log.Fatal(err)
	}
	m, err := roles.New(
		roles.Config{Conn: nc, Bucket: "roles", BucketAutoCreate: true, TTL: 2 * time.Second},
		roles.Shards("orders", shards, a.lead)...,
	)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("order-4711 belongs to shard %d", roles.ShardOf("orders", shards, "order-4711"))
	go report(ctx, m)
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// lead is the work of one shard: it stores how far it has come. ctx ends when the shard moves to
// another process, or the process is cut off.
func (a *app) lead(ctx context.Context, shard int, t *election.Term) error {
	for step := 1; ctx.Err() == nil; step++ {
		m := nats.NewMsg("$KV.roles.progress." + t.Role())
		m.Data = fmt.Appendf(nil, "shard %d: step %d at epoch %d", shard, step, t.Epoch())
		// The server stores m only while this term's record of the role is there.
		if _, err := fencing.Publish(ctx, a.js, m, "roles", t.Token()); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// report says how many shards this process leads.
func report(ctx context.Context, m *roles.Manager) {
	for last := -1; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		if n := len(m.Status().Leading); n != last {
			log.Printf("leads %d shards", n)
			last = n
		}
	}
}
